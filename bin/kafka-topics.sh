#!/bin/sh
# Creates, lists, describes, changes and deletes topics.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka topics "$@"
