#!/bin/sh
# Lists, describes and aborts transactions, and finds hanging ones.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka transactions "$@"
