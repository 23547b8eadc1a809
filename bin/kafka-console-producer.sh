#!/bin/sh
# Publishes the lines of standard input.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka console-producer "$@"
