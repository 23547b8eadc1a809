#!/bin/sh
# Measures how long a record is under way.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka e2e-latency "$@"
