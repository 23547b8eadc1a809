#!/bin/sh
# Lists, describes and deletes consumer groups, and resets their offsets.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka consumer-groups "$@"
