"""Spark's own Kafka connector as a peer: its jars from Maven, for a session with `spark.jars`.

The jars lie in the git-ignored `.cache/` of the repository, fetched once per version of `spark_kafka.xml`.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

POM = Path(__file__).with_name("spark_kafka.xml")
CACHE = POM.parent.parent.parent / ".cache" / "benchmarks"
INSTALL_S = 600


class ConnectorMissing(Exception):
    """The connector cannot be had on this machine; the message says why."""


def version() -> str:
    found = re.search(r"<connector.version>(.+?)</connector.version>", POM.read_text())
    assert found is not None
    return found[1]


def jars() -> list[Path]:
    """The connector's jars, fetched when they are not there yet."""
    folder = CACHE / f"spark-kafka-{version()}-{hashlib.sha256(POM.read_bytes()).hexdigest()[:12]}"
    if not folder.exists():
        _fetch(folder)
    return sorted(folder.glob("*.jar"))


def spark_jars() -> str:
    """The value of `spark.jars`."""
    return ",".join(str(jar) for jar in jars())


def _fetch(folder: Path) -> None:
    if shutil.which("mvn") is None:
        raise ConnectorMissing("Spark's Kafka connector comes from Maven, and mvn is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=CACHE, prefix="part-"))
    command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", "-DincludeScope=runtime"]
    done = subprocess.run(
        [*command, f"-DoutputDirectory={staging}"],
        capture_output=True,
        text=True,
        timeout=INSTALL_S,
        check=False,
    )
    if done.returncode:
        shutil.rmtree(staging, ignore_errors=True)
        raise ConnectorMissing(
            "Spark's Kafka connector could not be fetched with Maven: "
            f"{(done.stdout + done.stderr).strip()[-300:]}"
        )
    try:
        staging.rename(folder)
    except OSError:  # somebody else was faster
        shutil.rmtree(staging, ignore_errors=True)
