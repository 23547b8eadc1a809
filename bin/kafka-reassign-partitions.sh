#!/bin/sh
# Moves partitions between brokers.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka reassign-partitions "$@"
