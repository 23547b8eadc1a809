"""The names of the compression codecs, apart from the libraries that do the work: settings need no more."""

from __future__ import annotations

from enum import IntEnum


class Codec(IntEnum):
    """The compression codec of a batch: bits 0 to 2 of its attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4
