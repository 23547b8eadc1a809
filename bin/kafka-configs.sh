#!/bin/sh
# Describes and changes the configuration of topics and brokers.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka configs "$@"
