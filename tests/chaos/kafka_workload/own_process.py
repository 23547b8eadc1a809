"""A worker in a process of its own.

librdkafka ends its whole process when one of its assertions fails, and can stop every thread of it while it
holds the interpreter's lock. A worker that lives here takes nobody with it: what it had under way stays in
the history as `info`, its connections are cut as those of any crashed client, and the next life begins in a
new process.

The child has a `Shared` that looks like the session's; numbers, values, counts and the history come over a
pipe, one question at a time, so that events are numbered by one counter as before.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

from chaos.kafka_workload.history import History, Isolation, Micro, Operation, Outcome
from chaos.kafka_workload.shared import Shared
from chaos.kafka_workload.workload import Worker

LISTEN_S = 0.5

# Longer than any operation: a child that asks nothing for so long has stopped for ever.
SILENCE_S = 120.0
STOP = "stop"


class Questions:
    """The child's end of the pipe: threads ask in turn. Between questions the parent may say stop."""

    def __init__(self, pipe: Connection, stop: threading.Event) -> None:
        self._pipe = pipe
        self._stop = stop
        self._lock = threading.Lock()

    def ask(self, what: str, *args: Any) -> Any:
        with self._lock:
            self._pipe.send((what, args))
            while (answer := self._pipe.recv()) == STOP:
                self._stop.set()
        return answer

    def listen(self) -> None:
        """Until the parent says stop, or is gone."""
        try:
            while not self._stop.is_set():
                with self._lock:
                    if self._pipe.poll() and self._pipe.recv() == STOP:
                        self._stop.set()
                self._stop.wait(LISTEN_S)
        except (EOFError, OSError):
            self._stop.set()


class RemoteHistory(History):
    """The session's history, asked over the pipe."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    def stamp(self) -> int:
        number: int = self._questions.ask("stamp")
        return number

    def invoke(
        self,
        process: str,
        kind: str,
        micros: Sequence[Micro] = (),
        *,
        isolation: Isolation = "",
        transactional: bool = False,
        group: str = "",
    ) -> Operation:
        operation: Operation = self._questions.ask(
            "invoke", process, kind, list(micros), isolation, transactional, group
        )
        return operation

    def complete(self, operation: Operation, outcome: Outcome, error: str = "") -> None:
        self._questions.ask("complete", operation, outcome, error)


class RemoteDead(set[str]):
    def __init__(self, questions: Questions) -> None:
        super().__init__()
        self._questions = questions

    def add(self, process: str) -> None:
        self._questions.ask("dead", process)


class RemoteShared(Shared):
    def next_value(self) -> int:
        value: int = self.history._questions.ask("value")  # type: ignore[attr-defined]
        return value

    def count(self, what: str, number: int = 1) -> None:
        self.history._questions.ask("count", what, number)  # type: ignore[attr-defined]


def work(
    pipe: Connection, kind: type[Worker], name: str, life: int, settings: dict[str, Any], args: dict[str, Any]
) -> None:
    """What the child does: one life after another, until it is told to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop = threading.Event()
    questions = Questions(pipe, stop)
    shared = RemoteShared(history=RemoteHistory(questions), stop=stop, dead=RemoteDead(questions), **settings)
    worker = kind(shared, name, **args)
    worker.life = life
    threading.Thread(target=questions.listen, name="stop", daemon=True).start()
    try:
        worker.run_lives(lambda: questions.ask("life"))
    except Exception:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # clients that were dropped in the middle may still be saying goodbye


class OwnProcess(Worker):
    """Stands for a worker whose clients live in a child process."""

    def __init__(self, shared: Shared, kind: type[Worker], name: str, **args: Any) -> None:
        super().__init__(shared, name)
        self.kind = kind
        self._args = args
        self._answers: dict[str, Callable[..., Any]] = {
            "stamp": self.history.stamp,
            "invoke": lambda process, kind, micros, isolation, transactional, group: self.history.invoke(
                process, kind, micros, isolation=isolation, transactional=transactional, group=group
            ),
            "complete": self.history.complete,
            "dead": shared.dead.add,
            "value": shared.next_value,
            "count": shared.count,
            "life": self._next_life,
        }

    def _next_life(self) -> int:
        self.life += 1
        return self.life

    def live(self) -> None:
        """One child, from its start to its end."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        shared = self.shared
        settings = {
            "bootstrap": shared.bootstrap,
            "seed": shared.seed,
            "pause_s": shared.pause_s,
            "disturbed": shared.disturbed,
            "sender_settings": shared.sender_settings,
        }
        child = context.Process(
            target=work, args=(theirs, self.kind, self.name, self.life, settings, self._args), daemon=True
        )
        child.start()
        theirs.close()
        how = self._answer(ours, child)
        if how:
            shared.dead.add(self.process)
            shared.count(f"{self.kind.__name__} {how}")
            crash = self.history.invoke(self.process, "crash")
            self.history.complete(crash, "ok")

    def _answer(self, pipe: Connection, child: Any) -> str:
        """Answers the child's questions until it has ended; says how, unless it did so by itself."""
        stop = self.shared.stop
        has_stop = False
        heard_s = time.monotonic()
        try:
            while time.monotonic() - heard_s < SILENCE_S:
                if stop.is_set() and not has_stop:
                    pipe.send(STOP)
                    has_stop = True
                if pipe.poll(LISTEN_S):
                    what, args = pipe.recv()
                    pipe.send(self._answers[what](*args))
                    heard_s = time.monotonic()
        except (EOFError, OSError):
            child.join(LISTEN_S)
        finally:
            pipe.close()
        if child.exitcode is None:
            child.kill()
            child.join()
            return "hung"
        if child.exitcode > 0:
            self.shared.failures.append(f"{self.process} ended with exit code {child.exitcode}")
        return "" if child.exitcode >= 0 else f"ended by {signal.Signals(-child.exitcode).name}"
