#!/bin/sh
# Stops the brokers that kafka-server-start.sh runs on this machine.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka server-stop "$@"
