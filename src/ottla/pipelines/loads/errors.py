"""Why a load or a publish does not go on, each as one sentence that says what to do."""

from __future__ import annotations

from ottla.client.errors import OttlaError


class LoadError(OttlaError):
    """The root of what loads raise; what is committed stays committed, and nothing else is visible."""


class LoadRefused(LoadError):
    """The options do not fit each other, the table, or the cluster. Nothing was written."""


class NotALoad(LoadRefused):
    """The directory holds something else than a table."""


class DataMissing(LoadError):
    """The log no longer has records that the table should get next."""


class CommitConflict(LoadError):
    """Somebody else committed first; what was written for this commit does not count."""


class TableDamaged(LoadError):
    """Files of the table are missing, or are not what was committed."""
