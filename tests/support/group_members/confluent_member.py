"""A group member on confluent-kafka (librdkafka)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from support.group_members.ledger import Label, Ledger, Record, Spec


def config_of(spec: Spec) -> dict[str, Any]:
    config: dict[str, Any] = {
        "bootstrap.servers": spec["bootstrap"],
        "group.id": spec["group"],
        "client.id": spec["name"],
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "allow.auto.create.topics": False,
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 500,
        "fetch.wait.max.ms": 100,
        "topic.metadata.refresh.interval.ms": 1000,
        "log_level": 4,
    }
    if spec.get("instance_id"):
        config["group.instance.id"] = spec["instance_id"]
    config["group.protocol"] = spec["protocol"]
    if spec["protocol"] == "consumer":
        if spec.get("remote_assignor"):
            config["group.remote.assignor"] = spec["remote_assignor"]
    else:
        config["partition.assignment.strategy"] = ",".join(spec["assignors"])
        config["session.timeout.ms"] = spec["session_ms"]
        config["heartbeat.interval.ms"] = spec["heartbeat_ms"]
    return config


def main() -> None:
    spec = Spec()
    ledger = Ledger(spec)
    consumer = Consumer(config_of(spec))
    polled: list[Record] = []
    names: dict[Label, TopicPartition] = {}

    def labels(partitions: list[TopicPartition]) -> list[Label]:
        found = []
        for each in partitions:
            label = spec.label(each.topic, each.partition)
            names[label] = each
            found.append(label)
        return found

    def commit(offsets: dict[Label, int]) -> dict[Label, int]:
        asked = [TopicPartition(names[p].topic, names[p].partition, offset) for p, offset in offsets.items()]
        answered: Any = consumer.commit(offsets=asked, asynchronous=False)
        done = {}
        for each in answered:
            if each.error is None:
                done[spec.label(each.topic, each.partition)] = each.offset
            else:
                ledger.tell("refused", each.error.name())
        return done

    def taken(kind: str) -> Callable[[Consumer, list[TopicPartition]], None]:
        def callback(_: Consumer, partitions: list[TopicPartition]) -> None:
            gone = labels(partitions)
            # Polled in this round and not processed: the next owner gets them from the committed offset.
            polled[:] = [record for record in polled if record.partition not in gone]
            if kind == "revoked" and not ledger.stopping:
                ledger.settle(commit)
            ledger.gone(kind, gone)

        return callback

    arguments: dict[str, Any] = {
        "on_assign": lambda _, partitions: ledger.assigned(labels(partitions)),
        "on_revoke": taken("revoked"),
        "on_lost": taken("lost"),
    }
    consumer.subscribe([spec.get("pattern") or spec["topic"]], **arguments)
    ledger.tell("ready")
    while not ledger.stopping:
        message = consumer.poll(0.1)
        while message is not None:
            error = message.error()
            if error is None:
                topic, number, offset = message.topic(), message.partition(), message.offset()
                assert topic is not None and number is not None and offset is not None
                polled.append(Record(spec.label(topic, number), offset, message.value()))
            elif error.fatal() or error.code() == KafkaError._FATAL:
                ledger.tell("fatal", f"{error.name()}: {error.str()}")
                consumer.close()
                raise SystemExit(3)
            if len(polled) >= spec["max_poll_records"]:
                break
            message = consumer.poll(0)
        records = polled[:]
        polled.clear()
        ledger.process(records)
        ledger.settle(commit)
    ledger.settle(commit)
    ledger.tell("closing")
    try:
        consumer.close()
    except KafkaException as error:
        ledger.refused(error)
    ledger.tell("closed")


if __name__ == "__main__":
    main()
