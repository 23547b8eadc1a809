"""What can go wrong on the way into a topic, beyond what the client raises."""

from __future__ import annotations

from ottla.client.errors import OttlaError


class SinkError(OttlaError):
    """The root of what a sink raises."""


class UnwritableRow(SinkError):
    """A row that will never be written, however often it is tried: no topic, no such partition, too large."""


class RetriedTask(SinkError):
    """A task runs for the second time: what its first run wrote may be in the open transaction already."""


class ForeignCheckpoint(SinkError):
    """The checkpoint and what the cluster knows of the application do not belong together."""


class ApplicationFenced(SinkError):
    """Another driver with the same application id has taken over."""


class BatchFailed(SinkError):
    """A micro-batch could not be written; its transaction was aborted, so nothing of it is visible."""


class OutcomeUnknown(SinkError):
    """The commit of a micro-batch was not answered: what the cluster says at the next start decides."""
