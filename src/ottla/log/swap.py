"""The change of names by which a cleaned segment takes the place of those that it was made from.

Kafka's order, because each point of it can be told apart by names alone:

1. `.cleaned` becomes `.swap`: the indexes before the log. A start that finds `.cleaned` throws away what lies
   beside it, so up to the last of these renames nothing has happened.
2. The old segments become `.deleted`. A start that finds a log that ends in `.swap` removes what is left of
   the old segments below its end and goes on with step 3.
3. `.swap` goes away, the log first: from then on a start only has to finish the names of the indexes.

What a file system keeps of this after a power loss is some first part of it; that is what common ones
promise, and what Kafka relies on. The contents of the new files are durable before step 1.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ottla.log.cleaning_job import CleaningFailed
from ottla.log.file_names import (
    CLEANED_SUFFIX,
    LOG_SUFFIX,
    OFFSET_INDEX_SUFFIX,
    SWAP_SUFFIX,
    TIME_INDEX_SUFFIX,
    TXN_INDEX_SUFFIX,
    segment_path,
)
from ottla.log.segment import Segment
from ottla.ports.disk import Disk

_INDEX_SUFFIXES = (OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX)


def swap_in(
    disk: Disk,
    dir_path: str,
    base_offset: int,
    *,
    has_txn_index: bool,
    created_ms: int,
    take_out: Callable[[], None],
) -> Segment:
    """Swaps in the `.cleaned` files of `base_offset`; `take_out` takes the old segments out of use.

    Raises CleaningFailed when nothing was done, and OSError when nobody knows any more which files are where.
    """
    suffixes = (LOG_SUFFIX, *_INDEX_SUFFIXES, *((TXN_INDEX_SUFFIX,) if has_txn_index else ()))
    paths = [segment_path(dir_path, base_offset, suffix) for suffix in suffixes]
    try:
        for path in reversed(paths):
            disk.rename(path + CLEANED_SUFFIX, path + SWAP_SUFFIX)
    except OSError as error:
        for path in paths:
            with suppress(FileNotFoundError):
                disk.remove(path + SWAP_SUFFIX)
        raise CleaningFailed(f"the cleaned files of {paths[0]} cannot be swapped in: {error}") from error
    take_out()
    for path in paths:
        disk.rename(path + SWAP_SUFFIX, path)
    return Segment.open(disk, dir_path, base_offset, now_ms=created_ms, has_txn_index=has_txn_index)


def remove_cleaned(disk: Disk, dir_path: str) -> int:
    """Throws away every `.cleaned` file that lies in a log's directory, and returns how many there were.

    One that was left behind would, after a crash in a later swap, be taken for a part of it.
    """
    names = [name for name in disk.list_dir(dir_path) if name.endswith(CLEANED_SUFFIX)]
    for name in names:
        with suppress(FileNotFoundError):
            disk.remove(f"{dir_path}/{name}")
    return len(names)
