"""What `ottla publish` is given: names, patterns, directories; and what it refuses before it starts Spark."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from killed_load import made

from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.publish_files import find_input


def test_formats_follow_from_names_and_directories_from_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    (tmp_path / "b.json.gz").write_bytes(b"")
    (tmp_path / "_hidden.json").write_text("")
    found = find_input([tmp_path], None)
    assert found.format == "json" and [each.name for each in found.files] == ["a.jsonl", "b.json.gz"]
    assert find_input([tmp_path / "*.jsonl"], None).files == (tmp_path / "a.jsonl",)
    assert find_input([tmp_path / "a.jsonl"], "text").format == "text"
    made(tmp_path / "delta", "delta")
    assert find_input([tmp_path / "delta"], None).format == "delta"
    assert find_input([tmp_path / "delta"], None).table is not None


def test_what_cannot_be_published_is_refused_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("x")
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "b.json").write_text("\n\n[1]\n")
    (tmp_path / "empty").mkdir()
    made(tmp_path / "delta", "delta")
    for given, format, sentence in (
        (["nowhere.json"], None, "there is no such file"),
        ([tmp_path / "empty"], None, "has no files"),
        ([tmp_path / "a.dat"], None, "add --format"),
        ([tmp_path / "a.csv", tmp_path / "b.json"], None, "several formats"),
        ([tmp_path / "a.csv"], "delta", "needs one directory"),
        ([tmp_path / "delta"], "json", "holds a table of format delta, not json"),
        ([tmp_path / "a.csv"], "orc", "--format orc: write"),
        ([], None, "at least one file"),
    ):
        with pytest.raises(LoadRefused, match=sentence):
            find_input(given, format)
    with pytest.raises(LoadRefused, match="no first line with the names"):
        find_input([tmp_path / "a.csv"], None).csv_header()
    with pytest.raises(LoadRefused, match="first line is not a JSON object"):
        find_input([tmp_path / "b.json"], None).json_names()


def test_a_file_that_is_not_parquet_or_was_cut_off_is_named(tmp_path: Path) -> None:
    good, cut, other = (tmp_path / f"{name}.parquet" for name in ("good", "cut", "other"))
    pq.write_table(pa.table({"a": [1]}), good)
    cut.write_bytes(good.read_bytes()[:-5])
    other.write_text("a,b\n")
    find_input([good], None).check_parquet()
    for wrong in (cut, other):
        with pytest.raises(LoadRefused, match=f"{wrong.name} is not a Parquet file"):
            find_input([good, wrong], None).check_parquet()


def test_csv_files_have_to_agree_on_their_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,"b,c"\n1,2\n')
    (tmp_path / "b.csv").write_text("a\n1\n")
    assert find_input([tmp_path / "a.csv"], None).csv_header() == ["a", "b,c"]
    with pytest.raises(LoadRefused, match="other columns than"):
        find_input([tmp_path / "*.csv"], None).csv_header()
    (tmp_path / "b.csv").write_text("a,a\n1,2\n")
    with pytest.raises(LoadRefused, match="several columns are named 'a'"):
        find_input([tmp_path / "b.csv"], None).csv_header()
