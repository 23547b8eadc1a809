#!/bin/sh
# Measures how fast records can be written.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka producer-perf-test "$@"
