"""Ottla: an event streaming platform that speaks Apache Kafka's wire protocol.

    import ottla

    with ottla.Producer(bootstrap_servers="localhost:9092") as producer:
        producer.send("clicks", "hello", key="7")

The names below are imported when they are first used: a program that only produces does not pay for the
consumer, and `import ottla` costs next to nothing.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers take it for True, and `typing` need not be imported
if TYPE_CHECKING:
    from ottla import admin as admin
    from ottla import aio as aio
    from ottla import errors as errors
    from ottla import pipelines as pipelines
    from ottla import streams as streams
    from ottla.client.admin import EARLIEST as EARLIEST
    from ottla.client.admin import LATEST as LATEST
    from ottla.client.admin import NewTopic as NewTopic
    from ottla.client.consuming.subscription import Blacklist as Blacklist
    from ottla.client.consuming.subscription import TopicFilter as TopicFilter
    from ottla.client.consuming.subscription import Whitelist as Whitelist
    from ottla.client.errors import OttlaError as OttlaError
    from ottla.client.producing.columns import BatchFuture as BatchFuture
    from ottla.client.producing.columns import BatchMetadata as BatchMetadata
    from ottla.client.producing.future import RecordFuture as RecordFuture
    from ottla.client.producing.interceptors import BatchInfo as BatchInfo
    from ottla.client.producing.interceptors import ProducerRecord as ProducerRecord
    from ottla.client.producing.partitioners import Partitions as Partitions
    from ottla.client.records import ConsumerRecord as ConsumerRecord
    from ottla.client.records import GroupMetadata as GroupMetadata
    from ottla.client.records import OffsetAndMetadata as OffsetAndMetadata
    from ottla.client.records import OffsetAndTimestamp as OffsetAndTimestamp
    from ottla.client.records import RecordMetadata as RecordMetadata
    from ottla.client.sync.admin import Admin as Admin
    from ottla.client.sync.consumer import Consumer as Consumer
    from ottla.client.sync.producer import Producer as Producer
    from ottla.client.sync.simple_consumer import SimpleConsumer as SimpleConsumer
    from ottla.client.sync.streams import MessageStream as MessageStream
    from ottla.model.types import TopicPartition as TopicPartition

_HOMES = {
    "Admin": "ottla.client.sync.admin",
    "BatchFuture": "ottla.client.producing.columns",
    "BatchInfo": "ottla.client.producing.interceptors",
    "BatchMetadata": "ottla.client.producing.columns",
    "Blacklist": "ottla.client.consuming.subscription",
    "Consumer": "ottla.client.sync.consumer",
    "ConsumerRecord": "ottla.client.records",
    "EARLIEST": "ottla.client.admin",
    "GroupMetadata": "ottla.client.records",
    "LATEST": "ottla.client.admin",
    "MessageStream": "ottla.client.sync.streams",
    "NewTopic": "ottla.client.admin",
    "OffsetAndMetadata": "ottla.client.records",
    "OffsetAndTimestamp": "ottla.client.records",
    "OttlaError": "ottla.client.errors",
    "Partitions": "ottla.client.producing.partitioners",
    "Producer": "ottla.client.sync.producer",
    "ProducerRecord": "ottla.client.producing.interceptors",
    "RecordFuture": "ottla.client.producing.future",
    "RecordMetadata": "ottla.client.records",
    "SimpleConsumer": "ottla.client.sync.simple_consumer",
    "TopicFilter": "ottla.client.consuming.subscription",
    "TopicPartition": "ottla.model.types",
    "Whitelist": "ottla.client.consuming.subscription",
}
_MODULES = ("admin", "aio", "errors", "pipelines", "streams")

__all__ = ["__version__", *_HOMES, *_MODULES]  # noqa: PLE0604

if not TYPE_CHECKING:  # or a checker would believe in any name

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"ottla.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'ottla' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
