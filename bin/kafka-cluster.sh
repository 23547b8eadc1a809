#!/bin/sh
# Shows the cluster's id and its brokers.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka cluster "$@"
