#!/bin/sh
# Elects the leaders of partitions anew.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka leader-election "$@"
