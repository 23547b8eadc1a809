#!/bin/sh
# Deletes the records of partitions up to given offsets.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka delete-records "$@"
