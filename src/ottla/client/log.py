"""What the client writes to the logger `ottla.client`: connections made, refused and lost, by broker and
reason; tasks and callbacks that failed.

Python's `logging` takes several milliseconds to import, which a command that asks one question should not
pay. Where nobody else has imported it, nobody can have asked to see messages either; only failures are loud.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from logging import Logger

NAME: Final = "ottla.client"


def _logger() -> Logger | None:
    logging = sys.modules.get("logging")
    return None if logging is None else logging.getLogger(NAME)


def debug(message: str, *args: Any) -> None:
    logger = _logger()
    if logger is not None:
        logger.debug(message, *args)


def info(message: str, *args: Any) -> None:
    logger = _logger()
    if logger is not None:
        logger.info(message, *args)


def warning(message: str, *args: Any) -> None:
    logger = _logger()
    if logger is not None:
        logger.warning(message, *args)


def failure(error: BaseException, message: str, *args: Any) -> None:
    """A bug, ours or the user's: with the traceback."""
    import logging

    logging.getLogger(NAME).error(message, *args, exc_info=error)
