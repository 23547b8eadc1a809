#!/bin/sh
# Reads records and prints them.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka console-consumer "$@"
