#!/bin/sh
# Prints offsets of partitions.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka get-offsets "$@"
