"""Small files beside checkpoints, through Hadoop's FileSystem: a checkpoint may lie wherever Spark can put
one.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Files:
    def __init__(self, spark: SparkSession, folder: str) -> None:
        jvm: Any = spark._jvm
        self._jvm = jvm
        self._root = self._jvm.org.apache.hadoop.fs.Path(folder)
        self._system = self._root.getFileSystem(spark._jsc.hadoopConfiguration())

    def read(self, name: str) -> str | None:
        """The file's text; None when there is none."""
        path = self._path(name)
        if not self._system.exists(path):
            return None
        stream = self._system.open(path)
        try:
            return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Whole or not at all: renamed when it is complete."""
        self._system.mkdirs(self._root)
        part = self._path(f"{name}.{uuid.uuid4().hex}.part")
        stream = self._system.create(part, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if not self._system.rename(part, self._path(name)):  # Hadoop's way to say that the name is taken
            self._system.delete(part, False)
            raise FileExistsError(f"{self._path(name)} was made by somebody else meanwhile")

    def has_folders(self) -> bool:
        """Whether something has been at work here."""
        if not self._system.exists(self._root):
            return False
        return any(status.isDirectory() for status in self._system.listStatus(self._root))

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self._root, name)
