#!/bin/sh
# Describes and changes the features of a cluster.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka features "$@"
