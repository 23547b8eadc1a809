#!/bin/sh
# Describes and changes the quorum of controllers.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka metadata-quorum "$@"
