"""What a decoder says about values that it cannot read: one column of errors beside the decoded column.

Every decoder gives a pair of Arrow arrays of the same length: the values, null where there is none or where
it is bad, and the errors, null where the value is good. An error is an exception's name and its message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

ERROR_TYPE: Final = pa.struct([("exception", pa.string()), ("message", pa.string())])
ERROR_DDL: Final = "STRUCT<exception: STRING, message: STRING>"
MESSAGE_CHARACTERS_MAX: Final = (
    500  # an error quotes what it met; a header of a record is no place for all of it
)


def described(error: BaseException) -> tuple[str, str]:
    """The exception's name and its message, without a length that the bad value could choose."""
    message = " ".join(str(error).split()) or type(error).__name__
    if len(message) > MESSAGE_CHARACTERS_MAX:
        message = message[: MESSAGE_CHARACTERS_MAX - 3] + "..."
    return type(error).__name__, message


def error_column(rows: int, errors: Mapping[int, tuple[str, str]]) -> pa.Array:
    """The column of errors of `rows` rows, from those there are (by row)."""
    if not errors:
        return pa.nulls(rows, ERROR_TYPE)
    entries = [errors.get(row) for row in range(rows)]
    return pa.array([entry and {"exception": entry[0], "message": entry[1]} for entry in entries], ERROR_TYPE)
