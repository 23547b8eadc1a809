"""The sentence that a user gets out of Spark's texts, which here are as Spark 4.3 writes them."""

from __future__ import annotations

from ottla.streams.running.failures import explained, sentence

PYTHON = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted due to stage failure:
Task 0 in stage 3.0 failed 4 times: org.apache.spark.api.python.PythonException: Traceback:
  File "/x/chains.py", line 70, in run
    result = self.fused(keys, values, where)
ottla.streams.errors.RecordError: doubled failed on the record of topic t, partition 0, offset 7: bad
\tat org.apache.spark.api.python.BasePythonRunner(PythonRunner.scala:1)
 SQLSTATE: 39000 SQLSTATE: XXKST"""


def test_a_failed_function_is_one_sentence_with_the_record() -> None:
    assert sentence(PYTHON) == ("doubled failed on the record of topic t, partition 0, offset 7: bad")


def test_an_error_around_it_does_not_hide_the_record() -> None:
    """The transactional sink raises an error of its own that quotes the first one."""
    wrapped = "ottla.pipelines.sink.errors.BatchFailed: batch 0 failed 4 times. Last: An exception\n" + PYTHON
    assert "offset 7" in sentence(wrapped)


def test_bytes_that_sql_could_not_read_are_named() -> None:
    text = (
        "[STREAM_FAILED] terminated with exception: [USER_RAISED_EXCEPTION] the value cannot be read: "
        "the serde 'json' cannot read x of topic t, partition 1, offset 2 SQLSTATE: P0001"
    )
    assert sentence(text).endswith("cannot read x of topic t, partition 1, offset 2")


def test_errors_of_others_are_told_in_their_first_words() -> None:
    lost = "a\nottla.pipelines.source.loss.DataLost: t-0: offsets 0 to 9 are wanted\n\tat java"
    assert sentence(lost) == "t-0: offsets 0 to 9 are wanted"
    stated = "[STREAM_FAILED] Query [id = 1] terminated with exception: no such thing SQLSTATE: X"
    assert sentence(stated) == "no such thing"
    error = RuntimeError("")
    assert str(explained("S", error)) == "stage S: it failed without a reason"
    assert explained("S", error).__cause__ is error


def test_what_went_wrong_in_python_comes_before_spark_saying_that_something_did() -> None:
    text = (
        "[STREAM_FAILED] Query terminated with exception: [FOREACH_BATCH_USER_FUNCTION_ERROR] An error "
        "occurred in the user provided function. Reason: Traceback (most recent call last):\n"
        '  File "chains.py", line 1, in run\n'
        "pyarrow.lib.ArrowNotImplementedError: Keys of type struct\n"
        "\tat org.apache.spark.X\n"
        "py4j.Py4JException: An exception was raised by the Python Proxy\n"
    )
    assert sentence(text) == "pyarrow.lib.ArrowNotImplementedError: Keys of type struct"
