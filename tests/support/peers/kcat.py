"""kcat: one process per event to write, since its keys and headers are arguments; one per topic to read.

It cannot set timestamps, and prints a null header value as `NULL`, so that such a value is compared in this
spelling.
"""

from __future__ import annotations

import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from support.peers.event import DEADLINE_S, Ack, Event, Seen
from support.tools import tool

# Lengths first, then key and value as they are: whatever bytes they hold, the parser finds its way.
_FORMAT = "%o %T %K %S|%k%s|%h\n"


class Kcat:
    name = "kcat"
    sets_timestamps = False

    def write(self, bootstrap: str, topic: str, events: list[Event], codec: str, **config: str) -> list[Ack]:
        for event in events:
            command = [tool("kcat"), "-P", "-b", bootstrap, "-t", topic, "-p", "0", "-z", codec]
            options = {"enable.idempotence": "true", "linger.ms": "0", **config}
            for key, value in options.items():
                command += ["-X", f"{key}={value}"]
            for name, header in event.headers:
                command += ["-H", f"{name}={'' if header is None else header.decode()}"]
            done = _send_null(command, event) if event.value is None else _send_file(command, event)
            assert done.returncode == 0 and b"failed" not in done.stderr, done.stderr
        return [Ack(None, None)] * len(events)

    def read(self, bootstrap: str, counts: dict[str, int]) -> dict[str, list[Seen]]:
        def read_one(topic: str) -> list[Seen]:
            command = [tool("kcat"), "-C", "-b", bootstrap, "-t", topic, "-p", "0", "-o", "beginning"]
            command += ["-c", str(counts[topic]), "-q", "-f", _FORMAT, "-X", "check.crcs=true"]
            done = subprocess.run(command, capture_output=True, timeout=DEADLINE_S, check=False)
            assert done.returncode == 0, done.stderr
            return _parse(done.stdout)

        with ThreadPoolExecutor(4) as pool:
            return dict(zip(counts, pool.map(read_one, counts), strict=True))


def _send_file(command: list[str], event: Event) -> subprocess.CompletedProcess[bytes]:
    """A file's whole content is one value."""
    assert event.value is not None
    if event.key is not None:
        command = [*command, "-k", event.key.decode()]
    with tempfile.NamedTemporaryFile() as file:
        file.write(event.value)
        file.flush()
        return subprocess.run([*command, file.name], capture_output=True, timeout=DEADLINE_S, check=False)


def _send_null(command: list[str], event: Event) -> subprocess.CompletedProcess[bytes]:
    """An empty file sends nothing; a line with a key and nothing after it sends null (-Z)."""
    assert event.key is not None
    line = event.key + b"|\n"
    return subprocess.run(
        [*command, "-Z", "-K", "|"], input=line, capture_output=True, timeout=DEADLINE_S, check=False
    )


def _parse(out: bytes) -> list[Seen]:
    seen = []
    at = 0
    while at < len(out):
        bar = out.index(b"|", at)
        offset, timestamp, key_size, value_size = (int(word) for word in out[at:bar].split())
        at = bar + 1
        key = None if key_size < 0 else out[at : at + key_size]
        at += max(key_size, 0)
        value = None if value_size < 0 else out[at : at + value_size]
        at += max(value_size, 0)
        end = out.index(b"\n", at)
        assert out[at : at + 1] == b"|"
        pairs = (part.partition("=") for part in out[at + 1 : end].decode().split(",") if part)
        headers = tuple((name, text.encode()) for name, _, text in pairs)
        seen.append(Seen(offset, timestamp, -1, key, value, headers))
        at = end + 1
    return seen
