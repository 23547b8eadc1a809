"""Cleaner processes: started on need, replaced when they fail, gone when nobody needs them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ottla.broker.cleaner import WorkerLost
from ottla.broker.cleaner_messages import decode_answer, decode_job, encode_failure, encode_job, encode_result
from ottla.broker.cleaner_pool import CleanerPool
from ottla.broker.driver import AsyncioDriver
from ottla.log.cleaning_job import (
    CleanedSegment,
    CleaningFailed,
    CleaningJob,
    CleaningResult,
    CleaningStats,
    SegmentToClean,
)
from ottla.net.clock import SystemClock
from ottla.wire.record_batch import Record, encode_batch
from support.waiting import wait_until

STATS = CleaningStats(1, 2, 3, 4, 5, True, 6, 0.5)
RESULT = CleaningResult((CleanedSegment(0, (0, 7), 9, 10, 11, True),), 42, STATS)


def job(dir_path: str, **changes: Any) -> CleaningJob:
    fields: dict[str, Any] = {
        "topic": "orders",
        "partition": 0,
        "dir_path": dir_path,
        "segments": (),
        "log_start_offset": 0,
        "first_dirty_offset": 0,
        "first_uncleanable_offset": 0,
        "last_offsets_of_producers": {},
        "now_ms": 1_700_000_000_000,
        "delete_retention_ms": 1_000,
        "segment_bytes_max": 1 << 20,
        "index_bytes_max": 1 << 20,
        "index_interval_bytes": 4096,
        "message_bytes_max": 1 << 20,
        "map_bytes": 2 << 20,
        "map_load_factor": 0.9,
        "io_buffer_bytes": 1 << 16,
        "io_bytes_per_s_max": float("inf"),
    }
    return CleaningJob(**{**fields, **changes})


def segment_with(path: Path, keys: str) -> tuple[SegmentToClean, ...]:
    data = b"".join(
        encode_batch([Record(0, 1_700_000_000_000, key.encode(), b"value")], base_offset=offset)
        for offset, key in enumerate(keys)
    )
    (path / f"{0:020d}.log").write_bytes(data)
    return (SegmentToClean(0, len(keys), len(data), False),)


def small_job(path: Path, **changes: Any) -> CleaningJob:
    segments = segment_with(path, "abcaab")
    return job(str(path), segments=segments, first_uncleanable_offset=6, **changes)


def in_pool(
    body: Callable[[CleanerPool, Callable[[CleaningJob], Any]], Any],
    *,
    wanted: Callable[[], bool] = lambda: True,
    **options: Any,
) -> Any:
    """Runs `body(pool, clean)` in a loop; `await clean(job)` is what the broker's cleaner waits for."""

    async def run() -> Any:
        loop = asyncio.get_running_loop()
        clock = SystemClock()
        driver = AsyncioDriver(loop, clock)
        pool = CleanerPool(loop, clock, **options)

        async def clean(job: CleaningJob) -> CleaningResult:
            future: asyncio.Future[CleaningResult] = loop.create_future()

            def done(result: Any, error: BaseException | None) -> None:
                if error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(result)

            driver.run(pool.clean(job, wanted), done)
            return await asyncio.wait_for(future, 30)

        try:
            return await body(pool, clean)
        finally:
            driver.close()
            pool.close()

    return asyncio.run(run())


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def script(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


def test_jobs_and_answers_survive_the_way_between_the_processes() -> None:
    sent = job(
        "/data",
        segments=(SegmentToClean(0, 5, 100, True),),
        last_offsets_of_producers={7: (4, 0), 2**62: (-1, 3)},
        later_aborted=((1, 2, 3, 4),),
    )
    many = replace(sent, last_offsets_of_producers={number: (number, 1) for number in range(2_500)})
    lines = iter([*encode_job(sent), *encode_job(many)])
    assert [decode_job(lines), decode_job(lines), decode_job(lines)] == [sent, many, None]
    assert decode_answer(encode_result(RESULT)) == RESULT
    failed = decode_answer(encode_failure(CleaningFailed("damage", 17, 5)))
    assert isinstance(failed, CleaningFailed)
    assert (failed.message, failed.corrupt_offset, failed.errno) == ("damage", 17, 5)
    assert decode_answer(b'{"alive":true}') is None


def test_a_process_cleans_and_is_used_again(tmp_path: Path) -> None:
    async def body(pool: CleanerPool, clean: Any) -> None:
        first = await clean(small_job(tmp_path))
        pids = pool.pids
        assert len(pids) == 1
        assert (first.next_dirty_offset, first.stats.records_written) == (6, 3)
        assert first.cleaned[0].replaced == (0,)
        assert (tmp_path / f"{0:020d}.log.cleaned").stat().st_size == first.cleaned[0].size_bytes
        assert (await clean(small_job(tmp_path))).cleaned == first.cleaned
        assert pool.pids == pids
        assert os.getpriority(os.PRIO_PROCESS, pids[0]) >= 10

    in_pool(body)


def test_damage_and_a_missing_directory_are_told_and_the_process_goes_on(tmp_path: Path) -> None:
    async def body(pool: CleanerPool, clean: Any) -> None:
        segments = segment_with(tmp_path, "abc")
        log = tmp_path / f"{0:020d}.log"
        data = bytearray(log.read_bytes())
        data[-1] ^= 1
        log.write_bytes(bytes(data))
        with pytest.raises(CleaningFailed) as failed:
            await clean(job(str(tmp_path), segments=segments, first_uncleanable_offset=3))
        assert failed.value.corrupt_offset == 2
        pids = pool.pids
        missing = job(str(tmp_path / "no"), segments=segments, first_uncleanable_offset=3)
        with pytest.raises(CleaningFailed) as failed:
            await clean(missing)
        assert failed.value.corrupt_offset is None and failed.value.errno == 2
        assert pool.pids == pids

    in_pool(body)


def test_a_job_of_many_megabytes_gets_through(tmp_path: Path) -> None:
    async def body(pool: CleanerPool, clean: Any) -> None:
        many = {producer_id: (producer_id, 3) for producer_id in range(200_000)}
        assert (await clean(small_job(tmp_path, last_offsets_of_producers=many))).next_dirty_offset == 6

    in_pool(body)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import sys; sys.stdin.readline()", "it ended"),
        ("import sys; sys.stdin.readline(); print('what?', flush=True); sys.stdin.read()", "no sense"),
        ("import sys; sys.stdin.readline(); print('{}', flush=True); sys.stdin.read()", "no sense"),
        ("import sys; sys.stdin.readline(); sys.stdin.read()", "silent"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "gone"),
    ],
)
def test_a_process_that_dies_hangs_or_talks_nonsense_is_killed_and_replaced(
    tmp_path: Path, text: str, why: str
) -> None:
    async def body(pool: CleanerPool, clean: Any) -> None:
        seen = []
        for _ in range(2):
            with pytest.raises(WorkerLost, match=why):
                await clean(job(str(tmp_path)))
            assert pool.pids == []
            seen.append(1)
        assert len(seen) == 2

    in_pool(body, command=script(text), silence_ms_max=200)


def test_a_command_that_cannot_be_started_is_no_more_than_a_lost_worker(tmp_path: Path) -> None:
    async def body(pool: CleanerPool, clean: Any) -> None:
        with pytest.raises(WorkerLost, match="cannot be started"):
            await clean(job(str(tmp_path)))

    in_pool(body, command=(str(tmp_path / "nothing"),))


def test_a_job_that_nobody_wants_any_more_ends_with_its_process(tmp_path: Path) -> None:
    pids: list[int] = []

    async def body(pool: CleanerPool, clean: Any) -> None:
        def wanted_after_a_look() -> bool:
            pids.extend(pool.pids)
            return len(pids) < 2

        nonlocal_wanted.append(wanted_after_a_look)
        with pytest.raises(WorkerLost):
            await clean(job(str(tmp_path)))
        assert pool.pids == []

    nonlocal_wanted: list[Callable[[], bool]] = []
    text = "import sys\nfor line in sys.stdin: pass"
    in_pool(body, command=script(text), wanted=lambda: nonlocal_wanted[0]())
    wait_until(lambda: not is_alive(pids[0]), "the end of the process")


def test_an_idle_process_is_ended(tmp_path: Path) -> None:
    async def body(pool: CleanerPool, clean: Any) -> None:
        await clean(small_job(tmp_path))
        pid = pool.pids[0]
        deadline = time.monotonic() + 10
        while is_alive(pid) and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        assert not is_alive(pid) and pool.pids == []

    in_pool(body, idle_s=0.05)


def test_the_end_of_the_pool_is_the_end_of_its_processes(tmp_path: Path) -> None:
    pids: list[int] = []

    async def body(pool: CleanerPool, clean: Any) -> None:
        await clean(small_job(tmp_path))
        pids.extend(pool.pids)

    in_pool(body)
    assert pids and not any(is_alive(pid) for pid in pids)


def test_the_end_of_the_pool_waits_for_a_process_whose_job_was_given_up(tmp_path: Path) -> None:
    """The directory's lock is given back next: nobody may write there then."""

    async def run() -> None:
        loop = asyncio.get_running_loop()
        driver = AsyncioDriver(loop, SystemClock())
        text = "import sys\nprint('{\"alive\":true}', flush=True)\nfor line in sys.stdin: pass"
        pool = CleanerPool(loop, SystemClock(), command=script(text))
        for _ in range(3):
            driver.run(pool.clean(job(str(tmp_path)), lambda: True), lambda result, error: None)
        await asyncio.sleep(0)
        pids = pool.pids
        driver.close()
        pool.close()
        assert len(pids) == 3 and not any(is_alive(pid) for pid in pids)

    asyncio.run(run())


def test_a_process_ends_with_its_broker_even_when_that_is_killed(tmp_path: Path) -> None:
    """A broker that is killed closes no job: here its end of the pipe stays open on purpose."""
    ready = tmp_path / "pid"
    jobs_out, jobs_in = os.pipe()
    parent = subprocess.Popen(
        script(
            "import os, subprocess, time\n"
            f"child = subprocess.Popen([{sys.executable!r}, '-m', 'ottla.broker.cleaner_process', '10'],"
            f" stdin={jobs_out}, stdout=subprocess.PIPE)\n"
            f"path = {str(ready)!r}\n"
            "open(path + '.next', 'w').write(str(child.pid))\n"
            "child.stdout.readline()\n"  # an answer: it has begun
            "os.rename(path + '.next', path)\n"
            "time.sleep(60)\n"
        ),
        pass_fds=(jobs_out,),
    )
    try:
        os.write(jobs_in, b"".join(encode_job(small_job(tmp_path))))
        pid = int(wait_until(lambda: ready.exists() and ready.read_text(), "the child"))
        assert is_alive(pid)
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not is_alive(pid), "the end of the child")
    os.close(jobs_in)
    os.close(jobs_out)


def test_the_process_is_small_and_has_no_loop() -> None:
    code = (
        "import sys, ottla.broker.cleaner_process\n"
        "unwanted = ('asyncio', 'ssl', 'subprocess', 'ottla.broker.node')\n"
        "print([name for name in unwanted if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
