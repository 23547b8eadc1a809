"""What passes between a broker and its cleaner processes: one JSON document a line, each way.

To the process: a job, and after it lines with its producers, a thousand on each, so that the loop never makes
a large document in one go. From it: `{"alive": true}` now and then while it works, so that one that hangs is
told from one that is busy, and at the end `{"result": …}` or `{"failed": …}`. JSON, because what a child
writes is then only ever data.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any, Final

from ottla.log.cleaning_job import (
    CleanedSegment,
    CleaningFailed,
    CleaningJob,
    CleaningResult,
    CleaningStats,
    SegmentToClean,
)

ALIVE = b'{"alive":true}\n'


PRODUCERS_PER_LINE: Final = 1_000


def encode_job(job: CleaningJob) -> Iterator[bytes]:
    """The job's lines, one after the other."""
    document = {field.name: getattr(job, field.name) for field in fields(job)}
    producers = document.pop("last_offsets_of_producers")
    document["segments"] = [
        [getattr(segment, field.name) for field in fields(SegmentToClean)] for segment in job.segments
    ]
    yield _line({"job": document, "producers": len(producers)})
    left = iter(producers.items())
    while some := [(producer_id, *of) for producer_id, of in itertools.islice(left, PRODUCERS_PER_LINE)]:
        yield _line({"producers": some})


def decode_job(lines: Iterator[bytes]) -> CleaningJob | None:
    """The next job from the lines that the broker sends; None when there are no more."""
    line = next(lines, None)
    if line is None:
        return None
    head = json.loads(line)
    producers: dict[int, tuple[int, int]] = {}
    while len(producers) < head["producers"]:
        for producer_id, last_offset, epoch in json.loads(next(lines))["producers"]:
            producers[producer_id] = (last_offset, epoch)
    document = head["job"]
    document["segments"] = tuple(SegmentToClean(*each) for each in document["segments"])
    document["later_aborted"] = tuple(tuple(each) for each in document["later_aborted"])
    return CleaningJob(**document, last_offsets_of_producers=producers)


def encode_result(result: CleaningResult) -> bytes:
    return _line({"result": asdict(result)})


def encode_failure(failed: CleaningFailed) -> bytes:
    return _line({"failed": failed.message, "corrupt_offset": failed.corrupt_offset, "errno": failed.errno})


def decode_answer(line: bytes) -> CleaningResult | CleaningFailed | None:
    """None while the process is only alive. Raises ValueError, KeyError or TypeError for nonsense."""
    document = json.loads(line)
    if "alive" in document:
        return None
    if "failed" in document:
        return CleaningFailed(str(document["failed"]), document["corrupt_offset"], document["errno"])
    found = document["result"]
    return CleaningResult(
        cleaned=tuple(
            CleanedSegment(**{**each, "replaced": tuple(each["replaced"])}) for each in found["cleaned"]
        ),
        next_dirty_offset=found["next_dirty_offset"],
        stats=CleaningStats(**found["stats"]),
    )


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"
