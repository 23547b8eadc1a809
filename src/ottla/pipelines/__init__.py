"""Pipelines on Spark: the format "ottla" for reading and writing, exactly-once sinks, batch loads.

    import ottla.pipelines

    spark = ottla.pipelines.session(master="local[2]")
    clicks = spark.read.format("ottla").option("subscribe", "clicks")
    clicks.option("kafka.bootstrap.servers", "localhost:9092").load().groupBy("partition").count().show()

The names below are imported when they are first used: none of it is paid for by who does not use Spark.
"""

TYPE_CHECKING = False  # type checkers take it for True, and `typing` need not be imported
if TYPE_CHECKING:
    from ottla.pipelines.loads.inspection import describe_load as describe_load
    from ottla.pipelines.loads.inspection import verify_load as verify_load
    from ottla.pipelines.loads.load import LoadProgress as LoadProgress
    from ottla.pipelines.loads.load import LoadResult as LoadResult
    from ottla.pipelines.loads.load import load as load
    from ottla.pipelines.loads.publish import PublishResult as PublishResult
    from ottla.pipelines.loads.publish import publish as publish
    from ottla.pipelines.loads.read_load import read_load as read_load
    from ottla.pipelines.loads.table_sink import table_sink as table_sink
    from ottla.pipelines.sink.write_stream import write_stream as write_stream
    from ottla.pipelines.spark_session import session as session
    from ottla.pipelines.values.dead_letters import DeadLetters as DeadLetters
    from ottla.pipelines.values.dead_letters import dead_letters as dead_letters
    from ottla.pipelines.values.decoding import from_avro as from_avro
    from ottla.pipelines.values.decoding import from_json as from_json
    from ottla.pipelines.values.decoding import from_primitive as from_primitive
    from ottla.pipelines.values.decoding import from_text as from_text
    from ottla.pipelines.values.decoding import split as split
    from ottla.pipelines.values.encoding import to_avro as to_avro
    from ottla.pipelines.values.encoding import to_json as to_json
    from ottla.pipelines.values.encoding import to_primitive as to_primitive
    from ottla.pipelines.values.encoding import to_text as to_text
    from ottla.pipelines.values.formats import avro as avro
    from ottla.pipelines.values.formats import json_text as json_text
    from ottla.pipelines.values.formats import primitive as primitive
    from ottla.pipelines.values.formats import text as text

_HOMES = {
    "avro": "ottla.pipelines.values.formats",
    "describe_load": "ottla.pipelines.loads.inspection",
    "dead_letters": "ottla.pipelines.values.dead_letters",
    "DeadLetters": "ottla.pipelines.values.dead_letters",
    "from_avro": "ottla.pipelines.values.decoding",
    "from_json": "ottla.pipelines.values.decoding",
    "from_primitive": "ottla.pipelines.values.decoding",
    "from_text": "ottla.pipelines.values.decoding",
    "json_text": "ottla.pipelines.values.formats",
    "load": "ottla.pipelines.loads.load",
    "LoadProgress": "ottla.pipelines.loads.load",
    "LoadResult": "ottla.pipelines.loads.load",
    "primitive": "ottla.pipelines.values.formats",
    "publish": "ottla.pipelines.loads.publish",
    "PublishResult": "ottla.pipelines.loads.publish",
    "read_load": "ottla.pipelines.loads.read_load",
    "session": "ottla.pipelines.spark_session",
    "split": "ottla.pipelines.values.decoding",
    "table_sink": "ottla.pipelines.loads.table_sink",
    "text": "ottla.pipelines.values.formats",
    "to_avro": "ottla.pipelines.values.encoding",
    "to_json": "ottla.pipelines.values.encoding",
    "to_primitive": "ottla.pipelines.values.encoding",
    "to_text": "ottla.pipelines.values.encoding",
    "verify_load": "ottla.pipelines.loads.inspection",
    "write_stream": "ottla.pipelines.sink.write_stream",
}

__all__ = [*_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # or a checker would believe in any name

    def __getattr__(name):
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module 'ottla.pipelines' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
