"""Kafka Streams' API in Python, on Spark's Structured Streaming.

    from ottla.streams import StreamsBuilder

    builder = StreamsBuilder()
    builder.stream("clicks").group_by_key().count().to_stream().to("clicks-by-user")

The names below are imported when they are first used: a program is written, printed and tested without Spark.
"""

TYPE_CHECKING = False  # type checkers take it for True, and `typing` need not be imported
if TYPE_CHECKING:
    from ottla.streams.aggregate_expressions import avg_of as avg_of
    from ottla.streams.aggregate_expressions import count_of as count_of
    from ottla.streams.aggregate_expressions import max_of as max_of
    from ottla.streams.aggregate_expressions import min_of as min_of
    from ottla.streams.aggregate_expressions import sum_of as sum_of
    from ottla.streams.avro_serde import avro as avro
    from ottla.streams.builder import StreamsBuilder as StreamsBuilder
    from ottla.streams.compound_expressions import coalesce as coalesce
    from ottla.streams.compound_expressions import concat as concat
    from ottla.streams.compound_expressions import struct as struct
    from ottla.streams.errors import RecordError as RecordError
    from ottla.streams.errors import SerdeError as SerdeError
    from ottla.streams.errors import TopologyError as TopologyError
    from ottla.streams.expressions import Expression as Expression
    from ottla.streams.expressions import key as key
    from ottla.streams.expressions import left as left
    from ottla.streams.expressions import lit as lit
    from ottla.streams.expressions import right as right
    from ottla.streams.expressions import sql as sql
    from ottla.streams.expressions import timestamp as timestamp
    from ottla.streams.expressions import value as value
    from ottla.streams.expressions import window_end as window_end
    from ottla.streams.expressions import window_start as window_start
    from ottla.streams.kstream import KStream as KStream
    from ottla.streams.ktable import GlobalKTable as GlobalKTable
    from ottla.streams.ktable import KTable as KTable
    from ottla.streams.plan import Topology as Topology
    from ottla.streams.processor import Processor as Processor
    from ottla.streams.processor import Record as Record
    from ottla.streams.running.failures import ApplicationFailed as ApplicationFailed
    from ottla.streams.running.failures import ForeignCheckpoint as ForeignCheckpoint
    from ottla.streams.running.failures import MissingTopic as MissingTopic
    from ottla.streams.runtime import StreamsApplication as StreamsApplication
    from ottla.streams.runtime import run as run
    from ottla.streams.serdes import json as json
    from ottla.streams.serdes import session_windowed as session_windowed
    from ottla.streams.serdes import time_windowed as time_windowed
    from ottla.streams.test_driver import TopologyTestDriver as TopologyTestDriver
    from ottla.streams.windows import JoinWindows as JoinWindows
    from ottla.streams.windows import SessionWindows as SessionWindows
    from ottla.streams.windows import SlidingWindows as SlidingWindows
    from ottla.streams.windows import Suppressed as Suppressed
    from ottla.streams.windows import TimeWindows as TimeWindows
    from ottla.streams.windows import Windowed as Windowed

_HOMES = {
    "builder": ("StreamsBuilder",),
    "kstream": ("KStream",),
    "ktable": ("KTable", "GlobalKTable"),
    "windows": ("TimeWindows", "SlidingWindows", "SessionWindows", "JoinWindows", "Suppressed", "Windowed"),
    "expressions": (
        *("Expression", "key", "value", "timestamp", "window_start", "window_end", "left", "right"),
        *("lit", "sql"),
    ),
    "compound_expressions": ("concat", "coalesce", "struct"),
    "aggregate_expressions": ("count_of", "sum_of", "min_of", "max_of", "avg_of"),
    "serdes": ("json", "time_windowed", "session_windowed"),
    "avro_serde": ("avro",),
    "processor": ("Processor", "Record"),
    "plan": ("Topology",),
    "errors": ("TopologyError", "RecordError", "SerdeError"),
    "test_driver": ("TopologyTestDriver",),
    "running.failures": ("ApplicationFailed", "ForeignCheckpoint", "MissingTopic"),
    "runtime": ("run", "StreamsApplication"),
}

__all__ = [name for names in _HOMES.values() for name in names]

if not TYPE_CHECKING:  # or a checker would believe in any name

    def __getattr__(name):
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(import_module(f"ottla.streams.{home}"), name)
                return value
        raise AttributeError(f"module 'ottla.streams' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
