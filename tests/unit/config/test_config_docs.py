"""docs/configuration.md is generated, so it can never say something else than the code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_documentation_of_the_keys_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/generate_config_docs.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
