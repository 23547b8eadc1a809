#!/bin/sh
# Measures how fast records can be read.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka consumer-perf-test "$@"
