"""What `session()` says before any JVM starts: packages missing or too new, masters that it refuses."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from ottla.client.errors import InvalidArgument
from ottla.pipelines.spark_session import (
    JAVA_OPTIONS,
    SparkMissing,
    _with_deep_stack,
    check_packages,
    quiet_settings,
    session,
)


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    real = importlib.metadata.version

    def version(name: str) -> str:
        found = versions.get(name, real(name))
        if found is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(importlib.metadata, "version", version)


@pytest.mark.parametrize("name", ["pyspark", "pyarrow", "pandas", "protobuf"])
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    installed(monkeypatch, **{name: None})
    with pytest.raises(SparkMissing, match=rf"{name}.*pip install 'ottla\[spark\]'"):
        session()


def test_pandas_3_is_refused_because_spark_4_does_not_work_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, pandas="3.0.1")
    with pytest.raises(SparkMissing, match=r"pandas 3\.0\.1: pip install 'pandas<3'"):
        check_packages()


def test_versions_that_are_too_old_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, pyspark="3.5.4")
    with pytest.raises(SparkMissing, match=r"pyspark 4\.1 or newer, not 3\.5\.4"):
        check_packages()


def test_without_spark_the_package_can_be_imported_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An ImportError, as any other missing package is one."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    installed(monkeypatch, pyspark=None)
    import ottla.pipelines

    with pytest.raises(ImportError, match=r"pip install 'ottla\[spark\]'"):
        ottla.pipelines.session()


def test_spark_connect_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="Spark Connect"):
        session("sc://localhost")
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(InvalidArgument, match="Spark Connect"):
        session()


def test_a_quiet_jvm_keeps_the_callers_settings_and_his_own_log_settings() -> None:
    quiet = quiet_settings("off", {JAVA_OPTIONS: "-Xmx1g", "spark.ui.showConsoleProgress": "true"})
    assert quiet[JAVA_OPTIONS].startswith("-Xmx1g -Dlog4j2.configurationFile=file:/")
    assert quiet["spark.ui.showConsoleProgress"] == "true"
    file = Path(quiet[JAVA_OPTIONS].split("=file://")[1])
    assert "rootLogger.level = off" in file.read_text()
    assert quiet_settings(given={JAVA_OPTIONS: "-Dlog4j2.x=y"})[JAVA_OPTIONS] == "-Dlog4j2.x=y"


def test_the_stack_of_the_jvm_is_deep_unless_somebody_chose_one() -> None:
    assert _with_deep_stack("") == "-Xss16m"
    assert _with_deep_stack("-Xmx1g") == "-Xmx1g -Xss16m"
    assert _with_deep_stack("-Xss2m") == "-Xss2m"
