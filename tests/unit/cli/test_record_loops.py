"""The loops of `ottla produce` and `ottla consume` against clients that a test plays."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from ottla.cli.group_consume import print_group_records
from ottla.cli.interrupt import Interruptible
from ottla.cli.publishing import Deliveries, publish_lines
from ottla.cli.reading import print_records
from ottla.cli.record_input import InputError, LineReader, TextLines
from ottla.client.errors import CommitFailed, OttlaError, ServerError, WokenUp
from ottla.client.records import ConsumerRecord, RecordMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition


def record(offset: int) -> ConsumerRecord:
    return ConsumerRecord("t", 0, offset, 0, 0, None, b"%d" % offset)


def line(each: ConsumerRecord) -> bytes:
    value: bytes = each.value
    return value + b"\n"


class PlayedConsumer:
    """Gives what a test has prepared, and notes what counts as read when it is closed."""

    def __init__(self, *polls: Any, last_commit: OttlaError | None = None) -> None:
        self.polls = list(polls)
        self.asked: list[int | None] = []
        self.read = 0
        self.closed = False
        self.handed_back = False
        self.commit_error: OttlaError | None = None
        self._last_commit = last_commit
        self._woken = False
        self.owned = {TopicPartition("t", 0)}

    def poll(self, timeout: float, max_records: int | None = None) -> list[ConsumerRecord]:
        self.asked.append(max_records)
        if self._woken:
            self._woken = False
            raise WokenUp
        found = self.polls.pop(0) if self.polls else []
        if isinstance(found, BaseException):
            raise found
        if callable(found):
            found()
            return self.poll(timeout, max_records)
        taken: list[ConsumerRecord] = found[:max_records]
        self.read += len(taken)
        return taken

    def wakeup(self) -> None:
        self._woken = True

    def at_end(self) -> bool:
        return not self.polls

    def assignment(self) -> set[TopicPartition]:
        return self.owned

    def __enter__(self) -> PlayedConsumer:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.handed_back = kind is not None
        self.closed = True
        self.commit_error = self._last_commit


def printed_by(consumer: PlayedConsumer, **options: Any) -> list[bytes]:
    out = io.BytesIO()
    print_records(consumer, line, out, **options)  # type: ignore[arg-type]
    return out.getvalue().split()


def test_records_are_printed_until_the_end_where_that_is_wanted() -> None:
    consumer = PlayedConsumer([record(0), record(1)], [], [record(2)])
    assert printed_by(consumer, ended=consumer.at_end) == [b"0", b"1", b"2"]


def test_a_poll_is_never_asked_for_more_than_may_still_be_printed() -> None:
    consumer = PlayedConsumer([record(n) for n in range(3)], [record(n) for n in range(3, 9)])
    assert printed_by(consumer, count_max=5) == [b"0", b"1", b"2", b"3", b"4"]
    assert consumer.asked == [5, 2]
    assert consumer.read == 5


def test_reading_ends_when_nothing_came_for_the_timeout() -> None:
    assert printed_by(PlayedConsumer([record(0)]), timeout_ms=1) == [b"0"]


def group(consumer: PlayedConsumer, out: io.BytesIO, **options: Any) -> int:
    return print_group_records(consumer, line, out, **options)  # type: ignore[arg-type]


def test_a_member_that_is_done_leaves_its_group_with_everything_printed_committed() -> None:
    consumer, out = PlayedConsumer([record(0)], [record(1)]), io.BytesIO()
    assert group(consumer, out, exit_at_end=True) == 0
    assert out.getvalue() == b"0\n1\n"
    assert consumer.closed and not consumer.handed_back


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_noticed_by_the_next_poll_before_it_takes_anything(number: signal.Signals) -> None:
    consumer = PlayedConsumer([record(0)], lambda: os.kill(os.getpid(), number), [record(1)])
    out = io.BytesIO()
    assert group(consumer, out) == 128 + number
    assert out.getvalue() == b"0\n"
    assert consumer.read == 1 and consumer.closed and not consumer.handed_back


def test_what_could_not_be_printed_is_handed_back() -> None:
    class Broken(io.BytesIO):
        def write(self, data: Any) -> int:
            raise BrokenPipeError

    consumer = PlayedConsumer([record(0)])
    with pytest.raises(BrokenPipeError):
        group(consumer, Broken())
    assert consumer.closed and consumer.handed_back


def test_a_last_commit_that_failed_is_told_and_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    consumer = PlayedConsumer([record(0)], last_commit=CommitFailed("the group went on without us"))
    assert group(consumer, io.BytesIO(), exit_at_end=True) == 1
    assert "will be delivered again" in capsys.readouterr().err


def test_an_error_of_the_cluster_ends_the_reading_and_closes_the_member() -> None:
    consumer = PlayedConsumer([record(0)], ServerError(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with pytest.raises(ServerError):
        group(consumer, io.BytesIO())
    assert consumer.closed


def test_the_first_signal_calls_what_it_was_given_and_the_second_does_not_wait() -> None:
    calls: list[int] = []
    with Interruptible(lambda: calls.append(1)) as signals:
        os.kill(os.getpid(), signal.SIGINT)
        assert calls == [1] and signals.exit_code == 130
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert calls == [1]


class PlayedProducer:
    """Notes what is sent; acknowledges at a flush, or when it is closed."""

    def __init__(self, *, refuse: bytes | None = None) -> None:
        self.sent: list[bytes | None] = []
        self.stored: list[bytes | None] = []
        self.flushes = 0
        self.closed = False
        self._refuse = refuse
        self._waiting: list[tuple[bytes | None, Callable[..., None]]] = []

    def send(self, topic: str, value: bytes | None, key: bytes | None, **more: Any) -> None:
        self.sent.append(value)
        self._waiting.append((value, more["on_delivery"]))

    def flush(self) -> None:
        self.flushes += 1
        waiting, self._waiting = self._waiting, []
        for value, told in waiting:
            if value == self._refuse and value is not None:
                told(None, ServerError(ErrorCode.INVALID_RECORD))
            else:
                self.stored.append(value)
                told(RecordMetadata("t", 0, len(self.stored) - 1, 0), None)

    def close(self, timeout: float | None = None) -> None:
        self.flush()
        self.closed = True


class Pipe:
    """Standard input that a test writes to."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self.reading)
        self.end()

    def write(self, data: bytes) -> None:
        os.write(self.writing, data)

    def end(self) -> None:
        if self.writing >= 0:
            os.close(self.writing)
            self.writing = -1


def publish(producer: PlayedProducer, pipe: Pipe, deliveries: Deliveries, **options: Any) -> int:
    return publish_lines(
        producer,  # type: ignore[arg-type]
        "t",
        LineReader(pipe.reading),
        TextLines(key_separator=options.pop("key_separator", None)),
        deliveries,
        linger_ms=1,
        **options,
    )


def test_every_line_is_published_and_counted_once_it_is_acknowledged() -> None:
    with Pipe() as pipe:
        pipe.write(b"a\nb\nc")
        pipe.end()
        producer, deliveries = PlayedProducer(), Deliveries()
        assert publish(producer, pipe, deliveries) == 0
    assert producer.stored == [b"a", b"b", b"c"] and producer.closed
    assert (deliveries.sent, deliveries.delivered, deliveries.pending) == (3, 3, 0)


def test_a_typed_line_leaves_as_soon_as_the_input_pauses() -> None:
    with Pipe() as pipe:
        producer, deliveries = PlayedProducer(), Deliveries()
        prompts: list[int] = []

        def prompt() -> None:
            prompts.append(len(producer.stored))
            if len(prompts) == 1:
                pipe.write(b"typed\n")
            elif producer.stored:  # it is stored although the input has not ended
                pipe.end()

        assert publish(producer, pipe, deliveries, prompt=prompt) == 0
    assert producer.stored == [b"typed"] and producer.flushes >= 1


def test_ctrl_c_publishes_what_was_entered_before_it() -> None:
    with Pipe() as pipe:
        producer, deliveries = PlayedProducer(), Deliveries()
        prompts: list[int] = []

        def prompt() -> None:
            prompts.append(1)
            if len(prompts) == 1:
                pipe.write(b"entered\n")
            else:
                os.kill(os.getpid(), signal.SIGINT)

        assert publish(producer, pipe, deliveries, prompt=prompt) == 130
    assert producer.stored == [b"entered"] and producer.closed


def test_a_line_that_is_no_record_ends_it_after_everything_before_it_is_published() -> None:
    with Pipe() as pipe:
        pipe.write(b"k:a\nno separator\nk:b\n")
        pipe.end()
        producer, deliveries = PlayedProducer(), Deliveries()
        with pytest.raises(InputError, match="line 2"):
            publish(producer, pipe, deliveries, key_separator=b":")
    assert producer.stored == [b"a"] and producer.closed and deliveries.delivered == 1


def test_bad_lines_may_be_passed_over() -> None:
    with Pipe() as pipe:
        pipe.write(b"k:a\nno separator\nk:b\n")
        pipe.end()
        producer, deliveries = PlayedProducer(), Deliveries()
        bad: list[InputError] = []
        assert publish(producer, pipe, deliveries, key_separator=b":", on_bad_line=bad.append) == 0
    assert producer.stored == [b"a", b"b"] and len(bad) == 1


def test_a_record_that_the_broker_refuses_is_raised_and_the_others_are_counted() -> None:
    with Pipe() as pipe:
        pipe.write(b"a\nrefused\nc\n")
        pipe.end()
        producer, deliveries = PlayedProducer(refuse=b"refused"), Deliveries()
        with pytest.raises(ServerError):
            publish(producer, pipe, deliveries)
    assert (deliveries.delivered, deliveries.pending) == (2, 0)
