"""A real Spark cluster on this machine: a standalone master and its workers, each a process of its own.

The classes are those of the pyspark package. Workers start in a folder of their own and with an environment
of their own, so that nothing of this repository is importable there unless it is sent.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from ottla.cli.unused_ports import unused_ports
from support.waiting import wait_until

START_TIMEOUT_S = 60.0
# A test's JVMs live for seconds: compile little, collect simply.
JVM_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
VISIBLE = (
    *("pyspark", "py4j", "pyarrow", "numpy", "pandas", "dateutil", "pytz", "six.py", "tzdata"),
    *("numpy.libs", "pyarrow.libs", "pandas.libs"),
)
"""What the Python of the workers has: Spark and what Spark itself needs, none of our dependencies."""


def python_without_ottla(folder: Path) -> Path:
    """A Python with Spark, Arrow and pandas, which knows nothing of this repository; the path to it."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    here = Path(sysconfig.get_paths()["purelib"])
    there = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    for name in VISIBLE:
        if (here / name).exists():
            (there / name).symlink_to(here / name)
        for facts in here.glob(f"{name.removesuffix('.py')}-*.dist-info"):
            (there / facts.name).symlink_to(facts)
    said = subprocess.run(
        [str(python), "-c", "import pyspark, pyarrow, ottla"],
        capture_output=True,
        text=True,
        check=False,
        env=clean_environment(),
    )
    assert "No module named 'ottla'" in said.stderr, said.stderr
    return python


def spark_home_of_links(folder: Path) -> Path:
    """The pyspark package as SPARK_HOME, by links, without the archive of its Python part; the path to it.

    Spark puts that archive before everything on the path of each Python process that it starts: one for each
    streaming query, one for each micro-batch with transformWithState. Out of an archive Python compiles the
    modules anew each time, more than a second of work; from the package they are there compiled.
    """
    import pyspark

    folder.mkdir(parents=True)
    for each in Path(pyspark.__file__).parent.iterdir():
        if each.name != "python":
            (folder / each.name).symlink_to(each)
    return folder


def clean_environment() -> dict[str, str]:
    """Ours, without what would lead a child to this repository or to this process's Spark."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PYSPARK", "SPARK", "VIRTUAL_ENV"))
    }


class SparkCluster:
    """A standalone master with `workers` workers of one core each."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        self.workers = workers
        self.home = folder / "home"
        self.master = ""
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> SparkCluster:
        spark_home_of_links(self.home)
        (port,) = unused_ports("127.0.0.1", 1)
        self.master = f"spark://127.0.0.1:{port}"
        self._launch(
            "master", "org.apache.spark.deploy.master.Master", "--port", str(port), "--webui-port", "0"
        )
        for number in range(self.workers):
            self._launch(
                f"worker-{number}",
                "org.apache.spark.deploy.worker.Worker",
                *("--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g"),
                *("--work-dir", str(self.folder / f"work-{number}"), self.master),
            )
        return self

    def wait_for_workers(self) -> None:
        """The master has registered them all."""

        def registered() -> bool:
            for process in self._processes:
                assert process.poll() is None, f"a Spark daemon ended:\n{self.logs()[-4000:]}"
            return self.logs().count("Successfully registered with master") == self.workers

        wait_until(registered, "the workers of the Spark cluster", timeout_s=START_TIMEOUT_S, pause_s=0.05)

    def _launch(self, name: str, kind: str, *arguments: str) -> None:
        folder = self.folder / name
        folder.mkdir(parents=True)
        environment = {
            **clean_environment(),
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": JVM_OPTIONS,
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    [str(self.home / "bin" / "spark-class"), kind, "--host", "127.0.0.1", *arguments],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def logs(self) -> str:
        """What the master, the workers and their executors have written."""
        files = [*self.folder.glob("*.log"), *self.folder.glob("work-*/*/*/std*")]
        return "\n".join(file.read_text(errors="replace") for file in files)

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
