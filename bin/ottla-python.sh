#!/bin/sh
# Runs the Python that has ottla installed: $OTTLA_PYTHON, else the repository's .venv, else python3.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
if [ -n "$OTTLA_PYTHON" ]; then
  exec "$OTTLA_PYTHON" "$@"
elif [ -x "$here/../.venv/bin/python" ]; then
  exec "$here/../.venv/bin/python" "$@"
elif command -v python3 >/dev/null 2>&1; then
  exec python3 "$@"
fi
echo "ottla: no Python found: run make install, or set OTTLA_PYTHON" >&2
exit 1
