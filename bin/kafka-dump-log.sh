#!/bin/sh
# Shows what is in segment files.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka dump-log "$@"
