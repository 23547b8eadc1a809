"""Found by Spark by its name: `spark.read.format("ottla")` works without registering anything.

Spark looks for top-level modules named `pyspark_*` when a session starts, and registers the class that they
call `DefaultSource`.
"""

from ottla.pipelines.source.data_source import OttlaDataSource as DefaultSource

__all__ = ["DefaultSource"]
