"""Every setting of the clients, declared once: Kafka's name, type, bounds, meaning, and the field it fills.

`config.py` reads what a user wrote by these tables, and `tools/generate_client_config_docs.py` writes
docs/client-configuration.md from them. Defaults are not here: they are those of the dataclasses in
`settings.py`. A setting without a field is one of Kafka's that makes no difference here: it is checked and
otherwise left alone, so that a configuration made for Kafka works unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.model.config_key import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    STRING,
    ConfigKey,
    ConfigType,
    ConfigValue,
)


class Setting(NamedTuple):
    """One row: the declaration, and where its value goes."""

    key: ConfigKey
    field: str | None
    """The dataclass's field; None where there is none."""
    size: bool = False
    """Bytes: `64 KiB` is understood, too."""
    objects: bool = False
    """Takes Python objects (a function, an instance), or a list of them, besides names."""
    security: bool = False
    """Goes into SecuritySettings.options."""


def _row(
    name: str,
    type: ConfigType,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    also: int | None = None,
    choices: tuple[str, ...] | None = None,
    any_case: bool = False,
    non_empty: bool = False,
    field: str | None = None,
    size: bool = False,
    objects: bool = False,
) -> Setting:
    key = ConfigKey(
        name,
        type,
        None,
        doc,
        low=low,
        high=high,
        also=also,
        choices=choices,
        any_case=any_case,
        non_empty=non_empty,
        honoured=True,
    )
    return Setting(key, field or name.replace(".", "_"), size, objects)


def _idle(
    name: str,
    type: ConfigType,
    default: ConfigValue,
    doc: str,
    *,
    low: float | None = None,
    choices: tuple[str, ...] | None = None,
    any_case: bool = False,
) -> Setting:
    """One of Kafka's that has nothing to change here."""
    return Setting(ConfigKey(name, type, default, doc, low=low, choices=choices, any_case=any_case), None)


def _security(name: str, type: ConfigType, doc: str) -> Setting:
    return Setting(ConfigKey(name, type, None, doc, honoured=True), None, security=True)


_COMMON: Final = (
    _row(
        "bootstrap.servers",
        LIST,
        "Addresses of some brokers, `host:port`: the first that answers tells the others. The port is "
        "9092 where none is given.",
        non_empty=True,
    ),
    _row("client.id", STRING, "How the client calls itself: shown in the broker's logs, groups and quotas."),
    _row(
        "client.dns.lookup",
        STRING,
        "All addresses of a name are tried in turn; canonical names, which are Kerberos's, are not offered.",
        choices=("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
    ),
    _row("request.timeout.ms", INT, "How long one request may wait for its answer.", low=0),
    _row(
        "retry.backoff.ms",
        LONG,
        "The pause before a request is tried again; it doubles, with jitter, up to `retry.backoff.max.ms`.",
        low=0,
    ),
    _row("retry.backoff.max.ms", LONG, "The longest pause between two tries.", low=0),
    _row(
        "reconnect.backoff.ms",
        LONG,
        "The pause before a broker is connected to again; it doubles, with jitter, up to "
        "`reconnect.backoff.max.ms`.",
        low=0,
    ),
    _row("reconnect.backoff.max.ms", LONG, "The longest pause between two connects to a broker.", low=0),
    _row(
        "socket.connection.setup.timeout.ms",
        LONG,
        "How long a connection may take to be made; it doubles with every failure in a row.",
        low=1,
    ),
    _row("socket.connection.setup.timeout.max.ms", LONG, "The longest that it may become.", low=1),
    _row("connections.max.idle.ms", LONG, "A connection unused for so long is closed; -1: never.", low=-1),
    _row("metadata.max.age.ms", LONG, "Metadata older than this is asked for again.", low=0),
    _row(
        "send.buffer.bytes",
        INT,
        "SO_SNDBUF of sockets; -1: the system's, which grows with the traffic (Kafka: 131072).",
        low=-1,
        size=True,
    ),
    _row(
        "receive.buffer.bytes",
        INT,
        "SO_RCVBUF of sockets; -1: the system's, which grows with the traffic (Kafka: 65536).",
        low=-1,
        size=True,
    ),
    _idle("enable.metrics.push", BOOLEAN, True, "Pushing metrics to the broker (KIP-714)."),
    _idle("metrics.sample.window.ms", LONG, 30_000, "The window of rates and averages is 30 s.", low=0),
    _idle("metrics.num.samples", INT, 2, "Rates and averages are over two windows.", low=1),
    _idle(
        "metrics.recording.level",
        STRING,
        "INFO",
        "All metrics are always recorded.",
        choices=("INFO", "DEBUG", "TRACE"),
    ),
    _idle("metric.reporters", LIST, (), "Java classes that report metrics; see `metrics()`."),
    _idle(
        "metadata.recovery.strategy",
        STRING,
        "rebootstrap",
        "When no known broker answers, the bootstrap addresses are always tried again.",
        choices=("none", "rebootstrap"),
        any_case=True,
    ),
    _idle(
        "metadata.recovery.rebootstrap.trigger.ms", LONG, 300_000, "See `metadata.recovery.strategy`.", low=0
    ),
    _idle("config.providers", LIST, (), "Java classes that look up values; write the values themselves."),
)

_API_TIMEOUT: Final = _row(
    "default.api.timeout.ms",
    INT,
    "How long a call may take in all, tries included, when it is not given a timeout of its own.",
    low=0,
)

_SECURITY: Final = (
    Setting(
        ConfigKey(
            "security.protocol",
            STRING,
            None,
            "How brokers are spoken to.",
            choices=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
            any_case=True,
            honoured=True,
        ),
        "protocol",
        security=True,
    ),
    _security("sasl.mechanism", STRING, "How the client shows who it is; GSSAPI where nothing is given."),
    _security("sasl.username", STRING, "User for PLAIN and SCRAM (or in `sasl.jaas.config`)."),
    _security("sasl.password", PASSWORD, "That user's password."),
    _security("sasl.jaas.config", PASSWORD, "User and password as Java's clients are given them."),
    _security("sasl.kerberos.service.name", STRING, "The name under which the brokers run in Kerberos."),
    _security("sasl.kerberos.kinit.cmd", STRING, "The kinit to call."),
    _security("sasl.kerberos.ticket.renew.window.factor", DOUBLE, "When in its life a ticket is renewed."),
    _security("sasl.kerberos.ticket.renew.jitter", DOUBLE, "Chance in the time of renewal."),
    _security("sasl.kerberos.min.time.before.relogin", LONG, "The shortest time between two logins."),
    _security("sasl.login.refresh.window.factor", DOUBLE, "When in its life a token is refreshed."),
    _security("sasl.login.refresh.window.jitter", DOUBLE, "Chance in the time of the refresh."),
    _security("sasl.login.refresh.min.period.seconds", INT, "The shortest time between two refreshes."),
    _security("sasl.login.refresh.buffer.seconds", INT, "How long before its end a token is refreshed."),
    _security("sasl.login.connect.timeout.ms", INT, "For connections to the giver of tokens."),
    _security("sasl.login.read.timeout.ms", INT, "For its answers."),
    _security("sasl.login.retry.backoff.ms", LONG, "The pause before it is asked again."),
    _security("sasl.login.retry.backoff.max.ms", LONG, "The longest such pause."),
    _security("sasl.login.class", CLASS, "A Java class."),
    _security("sasl.login.callback.handler.class", CLASS, "A Java class."),
    _security("sasl.client.callback.handler.class", CLASS, "A Java class."),
    _security("sasl.oauthbearer.token.endpoint.url", STRING, "Where tokens are fetched."),
    _security("sasl.oauthbearer.client.credentials.client.id", STRING, "The client's id there."),
    _security("sasl.oauthbearer.client.credentials.client.secret", PASSWORD, "Its secret."),
    _security("sasl.oauthbearer.scope", STRING, "The scope to ask for."),
    _security("sasl.oauthbearer.scope.claim.name", STRING, "The claim that holds the scope."),
    _security("sasl.oauthbearer.sub.claim.name", STRING, "The claim that holds the subject."),
    _security("sasl.oauthbearer.jwks.endpoint.url", STRING, "Where the keys for checking tokens are."),
    _security("sasl.oauthbearer.jwks.endpoint.refresh.ms", LONG, "How often they are fetched."),
    _security("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", LONG, "The pause after a failed try."),
    _security("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", LONG, "The longest such pause."),
    _security("sasl.oauthbearer.clock.skew.seconds", INT, "How far clocks may differ."),
    _security("sasl.oauthbearer.expected.audience", LIST, "Audiences of which a token needs one."),
    _security("sasl.oauthbearer.expected.issuer", STRING, "The issuer that a token needs."),
    _security("sasl.oauthbearer.header.urlencode", BOOLEAN, "Whether id and secret are URL-encoded."),
    _security("sasl.oauthbearer.assertion.algorithm", STRING, "How assertions are signed."),
    _security("sasl.oauthbearer.assertion.claim.aud", STRING, "The audience of an assertion."),
    _security("sasl.oauthbearer.assertion.claim.exp.seconds", INT, "How long it is valid."),
    _security("sasl.oauthbearer.assertion.claim.iss", STRING, "Its issuer."),
    _security("sasl.oauthbearer.assertion.claim.jti.include", BOOLEAN, "Whether it has an id of its own."),
    _security("sasl.oauthbearer.assertion.claim.nbf.seconds", INT, "How long before now it is valid."),
    _security("sasl.oauthbearer.assertion.claim.sub", STRING, "Its subject."),
    _security("sasl.oauthbearer.assertion.file", STRING, "A file with a ready assertion."),
    _security("sasl.oauthbearer.assertion.template.file", STRING, "A file with claims of an assertion."),
    _security("sasl.oauthbearer.assertion.private.key.file", STRING, "A PEM file with the key that signs."),
    _security("sasl.oauthbearer.assertion.private.key.passphrase", PASSWORD, "The password of that key."),
    _security("sasl.oauthbearer.jwt.retriever.class", CLASS, "A Java class."),
    _security("sasl.oauthbearer.jwt.validator.class", CLASS, "A Java class."),
    _security("ssl.protocol", STRING, "The version of TLS that is tried first."),
    _security("ssl.enabled.protocols", LIST, "The versions of TLS that are allowed."),
    _security("ssl.cipher.suites", LIST, "The cipher suites that are allowed."),
    _security("ssl.ca.location", STRING, "A PEM file with the authorities to trust."),
    _security("ssl.certificate.location", STRING, "A PEM file with the client's certificate."),
    _security("ssl.key.location", STRING, "A PEM file with its private key."),
    _security("ssl.key.password", PASSWORD, "The password of the private key."),
    _security("ssl.keystore.type", STRING, "Format of the key store: PEM, PKCS12 or JKS."),
    _security("ssl.keystore.location", STRING, "File with the client's key and certificate."),
    _security("ssl.keystore.password", PASSWORD, "The password of that file."),
    _security("ssl.keystore.key", PASSWORD, "The private key itself, as PEM."),
    _security("ssl.keystore.certificate.chain", PASSWORD, "The certificates themselves, as PEM."),
    _security("ssl.truststore.type", STRING, "Format of the trust store: PEM, PKCS12 or JKS."),
    _security("ssl.truststore.location", STRING, "File with the authorities to trust."),
    _security("ssl.truststore.password", PASSWORD, "The password of that file."),
    _security("ssl.truststore.certificates", PASSWORD, "The authorities themselves, as PEM."),
    _security(
        "ssl.endpoint.identification.algorithm",
        STRING,
        "`https` checks that the certificate names the host; empty does not.",
    ),
    _security("ssl.provider", STRING, "A Java provider."),
    _security("ssl.keymanager.algorithm", STRING, "Of Java's key managers."),
    _security("ssl.trustmanager.algorithm", STRING, "Of Java's trust managers."),
    _security("ssl.secure.random.implementation", STRING, "Of Java's random numbers."),
    _security("ssl.engine.factory.class", CLASS, "A Java class."),
    _security("security.providers", STRING, "Java classes."),
)

_PRODUCER: Final = (
    _row(
        "acks",
        STRING,
        "What counts as stored: `all` replicas in sync, the leader alone (1), or nothing is waited for (0).",
        choices=("all", "-1", "0", "1"),
        any_case=True,
    ),
    _row(
        "enable.idempotence",
        BOOLEAN,
        "Every record is stored once and in order, however often it had to be sent. Needs `acks=all`, "
        "`retries` above 0 and at most 5 requests in flight; where it was not asked for, other settings "
        "switch it off.",
    ),
    _row(
        "transactional.id",
        STRING,
        "The name of this producer across restarts: a newer one with the same name ends it. Makes "
        "transactions possible.",
        non_empty=True,
    ),
    _row(
        "transaction.timeout.ms", INT, "The coordinator aborts a transaction that is older than this.", low=1
    ),
    _row(
        "batch.size",
        INT,
        "Records for one partition are sent together up to so many bytes. 0: every record by itself.",
        low=0,
        size=True,
    ),
    _row(
        "linger.ms",
        DOUBLE,
        "How long a batch that is not full waits for more records.",
        low=0,
        high=2**63 - 1,
    ),
    _row(
        "buffer.memory",
        LONG,
        "Bytes of records that may wait to be sent; above it `send` blocks.",
        low=0,
        size=True,
    ),
    _row(
        "max.block.ms",
        LONG,
        "How long `send` and the calls of transactions may block, for memory or for metadata.",
        low=0,
    ),
    _row("max.request.size", INT, "The largest request, and with it the largest record.", low=0, size=True),
    _row(
        "max.in.flight.requests.per.connection",
        INT,
        "Requests to one broker that may wait for their answers.",
        low=1,
    ),
    _row("retries", INT, "How often a batch is sent again; `delivery.timeout.ms` ends it before.", low=0),
    _row(
        "delivery.timeout.ms",
        INT,
        "From `send` to the acknowledgement; at least `linger.ms` and `request.timeout.ms` together.",
        low=0,
    ),
    _row(
        "compression.type",
        STRING,
        "The codec of batches.",
        choices=("none", "gzip", "snappy", "lz4", "zstd"),
    ),
    _row(
        "compression.gzip.level",
        INT,
        "How hard gzip tries.",
        low=1,
        high=9,
        also=-1,
    ),
    _row("compression.lz4.level", INT, "How hard lz4 tries.", low=1, high=17),
    _row("compression.zstd.level", INT, "How hard zstd tries.", low=-131_072, high=22),
    _row(
        "partitioner.class",
        CLASS,
        "Which partition a record goes to: `default` (by key as Java's murmur2 has it, else sticky), "
        "`round-robin`, `sticky`, or a function of yours. `partitioner` is the same setting.",
        field="partitioner",
        objects=True,
    ),
    _row("partitioner.ignore.keys", BOOLEAN, "The default partitioner takes all records as without a key."),
    _row(
        "partitioner.adaptive.partitioning.enable",
        BOOLEAN,
        "Fewer of the records without a key go to partitions that are slow to take them.",
    ),
    _idle(
        "partitioner.availability.timeout.ms",
        LONG,
        0,
        "A partition without a leader is left out at once.",
        low=0,
    ),
    _row(
        "key.serializer",
        CLASS,
        "What makes bytes of keys: `string`, `json`, `bytes`, `integer`, `long`, ... or a function; "
        "without one, bytes are taken as they are and texts as UTF-8.",
        objects=True,
    ),
    _row("value.serializer", CLASS, "The same for values.", objects=True),
    _row(
        "interceptor.classes",
        LIST,
        "Objects that see every record on its way. `interceptors` is the same setting.",
        field="interceptors",
        objects=True,
    ),
    _row("metadata.max.idle.ms", LONG, "Metadata of a topic that was not written to is dropped.", low=5_000),
    _idle(
        "transaction.two.phase.commit.enable",
        BOOLEAN,
        False,
        "Transactions that an outside coordinator ends (KIP-939) are not offered.",
    ),
    _row(
        "default.api.timeout.ms",
        INT,
        "How long `partitions_for` and other questions may take (`max.block.ms` is for sending).",
        low=0,
    ),
)

_CONSUMER: Final = (
    _row(
        "group.id",
        STRING,
        "The group that shares the topics' partitions and commits offsets.",
        non_empty=True,
    ),
    _row(
        "group.instance.id",
        STRING,
        "A name for this member that stays: after a restart it gets its partitions back without a rebalance.",
        non_empty=True,
    ),
    _row(
        "group.protocol",
        STRING,
        "`classic`: members assign; `consumer`: the broker does, step by step (KIP-848).",
        choices=("classic", "consumer"),
        any_case=True,
    ),
    _row("group.remote.assignor", STRING, "The broker's assignor, with `group.protocol=consumer`."),
    _row(
        "partition.assignment.strategy",
        LIST,
        "Assignors in order of preference: `range`, `roundrobin`, `sticky`, `cooperative-sticky`, or yours.",
        objects=True,
        non_empty=True,
    ),
    _row(
        "session.timeout.ms",
        INT,
        "A member that is not heard of for so long is taken out of its group.",
        low=1,
    ),
    _row(
        "heartbeat.interval.ms", INT, "How often a member is heard of; less than the session timeout.", low=1
    ),
    _row("max.poll.interval.ms", INT, "A consumer that does not poll for so long leaves its group.", low=1),
    _row("max.poll.records", INT, "What one `poll` returns at most.", low=1),
    _row("enable.auto.commit", BOOLEAN, "Commit what `poll` has handed out, by itself. Needs `group.id`."),
    _row("auto.commit.interval.ms", INT, "How often.", low=0),
    _row(
        "auto.offset.reset",
        STRING,
        "Where to begin without a committed offset: `earliest`, `latest`, `none` (an error), or "
        "`by_duration:PT1H` (KIP-1106).",
    ),
    _row(
        "isolation.level",
        STRING,
        "`read_committed` leaves out what transactions aborted or have not ended.",
        choices=("read_uncommitted", "read_committed"),
    ),
    _row(
        "allow.auto.create.topics", BOOLEAN, "Whether asking for a topic may create it, if the broker does."
    ),
    _row("exclude.internal.topics", BOOLEAN, "Whether patterns leave out Kafka's own topics."),
    _row("check.crcs", BOOLEAN, "Whether every batch is checked for damage."),
    _row(
        "client.rack",
        STRING,
        "Where this client is: it reads from a replica there, if there is one (KIP-392).",
    ),
    _row("fetch.min.bytes", INT, "An answer waits for so many bytes.", low=0, size=True),
    _row("fetch.max.wait.ms", INT, "But no longer than this.", low=0),
    _row("fetch.max.bytes", INT, "One answer's size; a single larger batch still comes.", low=0, size=True),
    _row("max.partition.fetch.bytes", INT, "The same for each partition in it.", low=0, size=True),
    _row(
        "queued.max.bytes",
        LONG,
        "Fetching pauses while so many bytes wait to be polled. Not one of Kafka's.",
        low=1,
        size=True,
    ),
    _row(
        "key.deserializer",
        CLASS,
        "What is made of keys: `string`, `json`, `bytes`, `integer`, `long`, ... or a function; "
        "without one they stay bytes.",
        objects=True,
    ),
    _row("value.deserializer", CLASS, "The same for values.", objects=True),
    _row(
        "interceptor.classes",
        LIST,
        "Objects that see what is polled and what is committed. `interceptors` is the same setting.",
        field="interceptors",
        objects=True,
    ),
    _API_TIMEOUT,
)

_ADMIN: Final = (
    _API_TIMEOUT,
    _idle("retries", INT, 2_147_483_647, "`default.api.timeout.ms` ends a call.", low=0),
)


def _table(*groups: tuple[Setting, ...]) -> dict[str, Setting]:
    return {setting.key.name: setting for group in groups for setting in group}


PRODUCER: Final[Mapping[str, Setting]] = _table(_COMMON, _PRODUCER, _SECURITY)
CONSUMER: Final[Mapping[str, Setting]] = _table(_COMMON, _CONSUMER, _SECURITY)
ADMIN: Final[Mapping[str, Setting]] = _table(_COMMON, _ADMIN, _SECURITY)
TABLES: Final[Mapping[str, Mapping[str, Setting]]] = {
    "producers": PRODUCER,
    "consumers": CONSUMER,
    "admin clients": ADMIN,
}

SAME: Final[Mapping[str, str]] = {"partitioner": "partitioner.class", "interceptors": "interceptor.classes"}
"""Shorter names of ours for settings whose Kafka name speaks of Java classes."""

LIBRDKAFKA: Final[Mapping[str, str]] = {
    "metadata.broker.list": "bootstrap.servers",
    "queue.buffering.max.ms": "linger.ms",
    "queue.buffering.max.kbytes": "buffer.memory (in bytes)",
    "queue.buffering.max.messages": "buffer.memory (in bytes)",
    "request.required.acks": "acks",
    "message.send.max.retries": "retries",
    "message.timeout.ms": "delivery.timeout.ms",
    "message.max.bytes": "max.request.size",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "compression.codec": "compression.type",
    "compression.level": "compression.<codec>.level",
    "partitioner.consistent.random": "partitioner",
    "socket.timeout.ms": "request.timeout.ms",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "queued.max.messages.kbytes": "queued.max.bytes (in bytes)",
    "queued.min.messages": "queued.max.bytes (in bytes)",
    "sasl.mechanisms": "sasl.mechanism",
    "statistics.interval.ms": "metrics(), a method",
}
"""Names that people bring along: a hint, not a second spelling."""

KAFKA_PYTHON: Final[Mapping[str, str]] = {
    "sasl.plain.username": "sasl.username",
    "sasl.plain.password": "sasl.password",
    "ssl.cafile": "ssl.ca.location",
    "ssl.certfile": "ssl.certificate.location",
    "ssl.keyfile": "ssl.key.location",
    "ssl.password": "ssl.key.password",
    "ssl.check.hostname": "ssl.endpoint.identification.algorithm",
}
"""The same, of kafka-python and aiokafka."""

_SERDES: Final = {
    "String": "string",
    "ByteArray": "bytes",
    "Bytes": "bytes",
    "ByteBuffer": "bytes",
    "Json": "json",
    "KafkaJson": "json",
    "Short": "short",
    "Integer": "integer",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Boolean": "boolean",
    "UUID": "uuid",
    "Void": "void",
}

JAVA_CLASSES: Final[Mapping[str, Mapping[str, str]]] = {
    "serializer": {f"{java}Serializer": ours for java, ours in _SERDES.items()},
    "deserializer": {f"{java}Deserializer": ours for java, ours in _SERDES.items()},
    "partitioner.class": {
        "DefaultPartitioner": "default",
        "RoundRobinPartitioner": "round-robin",
        "UniformStickyPartitioner": "sticky",
    },
    "partition.assignment.strategy": {
        "RangeAssignor": "range",
        "RoundRobinAssignor": "roundrobin",
        "StickyAssignor": "sticky",
        "CooperativeStickyAssignor": "cooperative-sticky",
    },
}
"""What a class of Kafka's Java clients is here, by the last part of its name."""
