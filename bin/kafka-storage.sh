#!/bin/sh
# Makes cluster ids and formats directories.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka storage "$@"
