"""The keys of a group, set through the GROUP resource of DescribeConfigs.

See `config_key.py` for what a declaration means.
"""

from __future__ import annotations

from typing import Final

from ottla.model.config_key import INT, STRING, ConfigKey

GROUP_KEYS: Final[tuple[ConfigKey, ...]] = (
    # Group keys
    ConfigKey(
        "consumer.session.timeout.ms",
        INT,
        45_000,
        "Session timeout of the members of this consumer group.",
        low=1,
        honoured=True,
    ),
    ConfigKey(
        "consumer.heartbeat.interval.ms",
        INT,
        5000,
        "Heartbeat interval of the members of this consumer group.",
        low=1,
        honoured=True,
    ),
    ConfigKey(
        "share.session.timeout.ms", INT, 45_000, "Session timeout of the members of this share group.", low=1
    ),
    ConfigKey(
        "share.heartbeat.interval.ms",
        INT,
        5000,
        "Heartbeat interval of the members of this share group.",
        low=1,
    ),
    ConfigKey(
        "share.record.lock.duration.ms",
        INT,
        30_000,
        "How long a delivered record is held for its consumer.",
        low=1000,
    ),
    ConfigKey(
        "share.auto.offset.reset",
        STRING,
        "latest",
        "Where a share group begins to read: `latest`, `earliest` or `by_duration:` with a length of time.",
    ),
    ConfigKey(
        "share.isolation.level",
        STRING,
        "read_uncommitted",
        "Whether a share group sees records of open transactions.",
        choices=("read_committed", "read_uncommitted"),
    ),
    ConfigKey(
        "streams.session.timeout.ms",
        INT,
        45_000,
        "Session timeout of the members of this streams group.",
        low=1,
    ),
    ConfigKey(
        "streams.heartbeat.interval.ms",
        INT,
        5000,
        "Heartbeat interval of the members of this streams group.",
        low=1,
    ),
    ConfigKey(
        "streams.num.standby.replicas", INT, 0, "Standby copies of each task of this streams group.", low=0
    ),
    ConfigKey(
        "streams.initial.rebalance.delay.ms",
        INT,
        3000,
        "How long the first rebalance of this streams group waits for more members.",
        low=0,
    ),
)
