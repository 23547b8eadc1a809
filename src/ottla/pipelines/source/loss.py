"""Records that were to be read and are gone: an error, or a warning, as `failOnDataLoss` says.

Retention may overtake a reader, an administrator may delete records or a topic, or make the topic anew. Every
place that notices says it here, in the same form: what was wanted, what is there, and what can be done.
"""

from __future__ import annotations

import logging

from ottla.client.errors import OttlaError

log = logging.getLogger("ottla.pipelines")


class DataLost(OttlaError):
    """Records between two offsets are no longer there, and the query is not to go on without them."""


def report(what: str, *, fail: bool) -> None:
    """Raises DataLost or warns; the caller then goes on with what is there."""
    if fail:
        raise DataLost(
            f"{what}. The records were deleted (retention, delete-records, or the topic itself) before they "
            "were read. Set the option failOnDataLoss to false to go on with what is there"
        )
    log.warning("%s; going on with what is there, as failOnDataLoss is false", what)
