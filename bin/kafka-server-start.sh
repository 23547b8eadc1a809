#!/bin/sh
# Runs a broker: kafka-server-start.sh [-daemon] server.properties [--override key=value]*
# With -daemon it runs in the background, and what it prints goes to $LOG_DIR/kafkaServer.out.
here=$(dirname -- "$0")
if [ "$1" = "-daemon" ]; then
  shift
  logs=${LOG_DIR:-$here/../logs}
  mkdir -p -- "$logs" || exit 1
  nohup "$here/ottla-python.sh" -m ottla.cli.kafka server-start "$@" >"$logs/kafkaServer.out" 2>&1 </dev/null &
  exit 0
fi
exec "$here/ottla-python.sh" -m ottla.cli.kafka server-start "$@"
