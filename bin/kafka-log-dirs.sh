#!/bin/sh
# Shows how much the brokers' log directories hold.
exec "$(dirname -- "$0")/ottla-python.sh" -m ottla.cli.kafka log-dirs "$@"
