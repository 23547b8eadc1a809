"""The checkpoint of a query as its sink needs it: whose it is, which batches are in it, what they read.

Spark's own files are only read (`offsets/<batch id>`, the names in `commits/`). One file is ours,
`ottla-sink.json`: the id by which the cluster's markers name this checkpoint, and the application that uses
it. All access goes through Hadoop's FileSystem, so a checkpoint may lie wherever Spark can put one.
"""

from __future__ import annotations

import json
import uuid
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from ottla.model.types import TopicPartition
from ottla.pipelines.options import InvalidOption
from ottla.pipelines.sink.errors import ForeignCheckpoint
from ottla.pipelines.sink.offset_log import topic_offsets

ID_FILE = "ottla-sink.json"


class CheckpointIdentity(NamedTuple):
    checkpoint_id: str
    application_id: str
    first_batch: int
    """The first batch that was, or will be, written in a transaction: another sink may have had earlier
    ones."""


class Checkpoint:
    def __init__(self, spark: SparkSession, location: str) -> None:
        jvm: Any = getattr(spark, "_jvm", None)
        if jvm is None:
            raise InvalidOption(
                "write_stream with exactly_once=True runs in the driver: it needs a SparkSession of its own, "
                "not one of Spark Connect"
            )
        self.location = location
        self._jvm = jvm
        self._root = jvm.org.apache.hadoop.fs.Path(location)
        self._files = self._root.getFileSystem(spark._jsc.hadoopConfiguration())

    # --- whose it is ----------------------------------------------------------------------------------------

    def claim(self, application_id: str | None) -> CheckpointIdentity:
        """Whose checkpoint it is; a new one becomes the application's. Without a name, one is made up, which
        stays with the checkpoint.
        """
        identity = self._identity()
        if identity is None:
            self._make_identity(application_id)
            identity = self._identity()  # of two that begin at once, the second has the word for both
            assert identity is not None
        if application_id is not None and application_id != identity.application_id:
            raise ForeignCheckpoint(
                f"the checkpoint {self.location} belongs to application {identity.application_id}, not to "
                f"{application_id}: give every application a checkpoint of its own"
            )
        return identity

    def _identity(self) -> CheckpointIdentity | None:
        text = self._read(ID_FILE)
        if not text:
            return None
        try:
            found = json.loads(text)
            return CheckpointIdentity(found["checkpoint_id"], found["application_id"], found["first_batch"])
        except (ValueError, TypeError, KeyError):
            raise ForeignCheckpoint(f"{self.location}/{ID_FILE} is damaged: {text[:200]!r}") from None

    def _make_identity(self, application_id: str | None) -> None:
        if self.unfinished_batch() is not None:
            raise ForeignCheckpoint(
                f"the checkpoint {self.location} was made by a query with another sink, and its batch "
                f"{self.unfinished_batch()} is not finished: nobody can tell what of it was written. Let "
                "that query finish the batch, or begin with a new checkpoint"
            )
        checkpoint_id = uuid.uuid4().hex
        identity = CheckpointIdentity(
            checkpoint_id, application_id or f"ottla-{checkpoint_id}", self.finished_batch() + 1
        )
        self._write(ID_FILE, json.dumps(identity._asdict()))

    # --- what is in it --------------------------------------------------------------------------------------

    def unfinished_batch(self) -> int | None:
        """The batch that was begun and whose end Spark has not noted: it will run again."""
        begun = max(self._ids("offsets"), default=-1)
        return begun if begun > self.finished_batch() else None

    def finished_batch(self) -> int:
        """The last batch whose end Spark has noted; -1 when there is none."""
        return max(self._ids("commits"), default=-1)

    def source_offsets(self, batch_id: int) -> dict[TopicPartition, int]:
        """Up to where a batch reads, of the sources that are topics."""
        text = self._read(f"offsets/{batch_id}")
        return topic_offsets(text) if text else {}

    # --- files ----------------------------------------------------------------------------------------------

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, name)

    def _read(self, name: str) -> str | None:
        path = self._path(name)
        if not self._files.exists(path):
            return None
        stream = self._files.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def _write(self, name: str, text: str) -> None:
        """Whole or not at all: it is renamed when it is complete."""
        part = self._path(f"{name}.{uuid.uuid4().hex}.part")
        stream = self._files.create(part, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if not self._files.rename(part, self._path(name)):
            self._files.delete(part, False)
            raise ForeignCheckpoint(f"{self.location}: somebody else is making this checkpoint their own")

    def _ids(self, folder: str) -> list[int]:
        path = self._path(folder)
        if not self._files.exists(path):
            return []
        names = [status.getPath().getName() for status in self._files.listStatus(path)]
        return [int(name) for name in names if name.isdecimal()]
