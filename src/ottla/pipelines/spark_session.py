"""A SparkSession with all that Ottla's pipelines need: `ottla.pipelines.session()`.

    spark = ottla.pipelines.session(master="local[2]", app_name="delays")
    spark.readStream.format("ottla").option("subscribe", "flights")...

What is set here is what was found to be needed by running Spark, each with its reason; what the caller gives
in `conf` wins over all of it. The same call works on a cluster (`master="spark://host:7077"`, or under
spark-submit without one): the workers get this package unless they have it (`shipping.py`), the settings of
the connection travel with the reader, and secrets are hidden (`secrets.py`). A session that is there already
is returned as it is, with the format "ottla" registered.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ottla.client.errors import IllegalState, InvalidArgument
from ottla.pipelines.java import ensure_java
from ottla.pipelines.secrets import OPTIONS_REGEX, redaction
from ottla.pipelines.shipping import ensure_on_workers, is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULTS: Final[dict[str, str]] = {
    # Every process of a pipeline reads timestamps the same way, wherever it runs.
    "spark.sql.session.timeZone": "UTC",
    # transformWithState, which Python aggregates and table joins rest on, keeps its state in RocksDB only.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Filters on offset, partition and timestamp reach the source of a batch query.
    "spark.sql.python.filterPushdown.enabled": "true",
    # Tables go between Spark and Python as columns, not row by row.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
LOCAL_DEFAULTS: Final[dict[str, str]] = {
    # Driver and tasks are one process: no door to the network is needed, and a machine whose own name does
    # not resolve can run it, too.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
DEEP_STACK: Final = "-Xss16m"
# A driver in Python is a shell to Spark: it takes the level of this one logger for all, and says so unless it
# is the same.
_LOG_SETTINGS: Final = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = {level}
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""

_NEEDED: Final[tuple[tuple[str, tuple[int, ...], tuple[int, ...] | None], ...]] = (
    ("pyspark", (4, 1), (5,)),
    ("pyarrow", (18,), None),
    ("pandas", (2, 2), (3,)),
    ("protobuf", (5,), None),
)
"""Distribution, lowest version, first version that is too new. pandas: Spark 4 does not work with the strings
of pandas 3. protobuf: how Spark's Python workers speak with their state."""


class SparkMissing(ImportError):
    """Spark, or a package that it needs, is not installed in a version that works."""


def session(
    master: str | None = None,
    *,
    app_name: str = "ottla",
    conf: Mapping[str, Any] | None = None,
    ship: bool | None = None,
    quiet: bool = False,
) -> SparkSession:
    """A SparkSession with the format "ottla" and everything that pipelines need.

    master: where Spark runs ("local[2]", "spark://host:7077", "yarn", ...); by default what spark-submit
        said, or all cores of this machine.
    conf: Spark's settings, over those that are chosen here.
    ship: whether a cluster's workers are sent this package; by default where they do not have this version.
    quiet: Spark logs errors only.
    """
    check_packages()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if (master or "").startswith("sc://") or "SPARK_REMOTE" in os.environ:
        raise InvalidArgument(
            "Spark Connect is not supported: pipelines need the driver in this process. Give the master of "
            "the cluster itself (spark://, yarn, k8s://) and unset SPARK_REMOTE"
        )
    given = {name: _text(value) for name, value in (conf or {}).items()}
    running = SparkContext._active_spark_context
    if running is None:
        spark = _start(master, app_name, given, quiet)
    elif master is not None and master != running.master:
        raise IllegalState(
            f"a SparkSession on {running.master} is running in this process, which can have one: stop() it "
            f"before asking for one on {master}"
        )
    else:
        spark = _with_settings(SparkSession.builder, given).getOrCreate()
    # Settings of the session, which it may have been started without.
    spark.conf.set(OPTIONS_REGEX, redaction({OPTIONS_REGEX: spark.conf.get(OPTIONS_REGEX)})[OPTIONS_REGEX])
    sent = ensure_on_workers(spark.sparkContext, ship)
    if sent or not is_local(spark.sparkContext.master) or not _has_format(spark):
        from ottla.pipelines.source.data_source import OttlaDataSource

        spark.dataSource.register(OttlaDataSource)
    return spark


def _has_format(spark: SparkSession) -> bool:
    """Whether Spark has found the format by its name (`pyspark_ottla`): registering it again would be a
    warning in everybody's log.
    """
    manager = spark._jsparkSession.sessionState().dataSourceManager()
    return bool(manager.dataSourceExists("ottla"))


def _start(master: str | None, app_name: str, given: dict[str, str], quiet: bool) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    submitted: dict[str, str] = {}
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        # Under spark-submit the JVM is there, and what was said on its command line is the caller's word.
        SparkContext._ensure_initialized()
        submitted = dict(SparkConf().getAll())
    else:
        ensure_java()
        # Workers take the Python on their PATH otherwise, which may be another one without our package.
        python = given.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable
        os.environ["PYSPARK_PYTHON"] = python
    chosen = dict(DEFAULTS)
    where = given.get("spark.master", "") if master is None else master
    if is_local(where):
        chosen |= LOCAL_DEFAULTS
    chosen = {name: value for name, value in chosen.items() if name not in submitted} | given
    if not submitted:
        if quiet:
            chosen |= quiet_settings(given=given)
        chosen[JAVA_OPTIONS] = _with_deep_stack(chosen.get(JAVA_OPTIONS, ""))
    chosen |= redaction(submitted | given)
    builder = SparkSession.builder.appName(app_name)
    if master is not None:
        builder = builder.master(master)
    spark = _with_settings(builder, chosen).getOrCreate()
    context = spark.sparkContext
    if quiet and submitted:
        context.setLogLevel("ERROR")
    if is_local(context.master) and not context.getConf().contains("spark.sql.shuffle.partitions"):
        # Spark's 200 are made for a cluster: each is a task, and a state store, of every micro-batch.
        spark.conf.set("spark.sql.shuffle.partitions", str(max(2, context.defaultParallelism)))
    return spark


def quiet_settings(level: str = "error", given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Settings that keep a new session's JVM from talking: from its first line on, which `setLogLevel` is too
    late for. `given`: settings of the caller, which are kept.
    """
    folder = tempfile.mkdtemp(prefix="ottla-log-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / "log4j2.properties"
    file.write_text(_LOG_SETTINGS.format(level=level.lower()))
    options = (given or {}).get(JAVA_OPTIONS, "")
    if "log4j" not in options:
        options = f"{options} -Dlog4j2.configurationFile={file.as_uri()}".strip()
    # No bar, either, that is drawn over the program's own lines.
    return {JAVA_OPTIONS: options, "spark.ui.showConsoleProgress": "false"} | {
        name: value for name, value in (given or {}).items() if name != JAVA_OPTIONS
    }


def _with_deep_stack(options: str) -> str:
    """Spark searches the text of a failed foreachBatch with an expression that takes stack per character:
    an error of some length would end in a StackOverflowError, and nobody would learn what had failed.
    """
    return options if "-Xss" in options else f"{options} {DEEP_STACK}".strip()


def _with_settings(builder: SparkSession.Builder, settings: Mapping[str, str]) -> SparkSession.Builder:
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_packages() -> None:
    """Raises SparkMissing with one sentence where a package is missing or of a version that does not work."""
    for name, low, high in _NEEDED:
        try:
            text = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            raise SparkMissing(
                f"pipelines need {name}, which is not installed: pip install 'ottla[spark]'"
            ) from None
        version = _version(text)
        if version < low:
            raise SparkMissing(
                f"pipelines need {name} {_dotted(low)} or newer, not {text}: pip install 'ottla[spark]'"
            )
        if high is not None and version >= high:
            raise SparkMissing(
                f"Spark does not work with {name} {text}: pip install '{name}<{_dotted(high)}'"
            )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
