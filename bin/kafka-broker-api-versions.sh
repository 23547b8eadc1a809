#!/bin/sh
# Shows which versions of which API each broker speaks.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka broker-api-versions "$@"
