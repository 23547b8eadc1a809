"""CreateTopics. Generated from schema/create_topics.txt by tools/generate_messages.py; do not edit."""

from __future__ import annotations

from struct import Struct
from struct import pack as _pack_n, unpack_from as _unpack_n
from typing import Any, ClassVar, Final

from ottla.wire.primitives import (
    Buffer,
    DECODE_FAILURES,
    DecodeError,
    ENCODE_FAILURES,
    Encoder,
    INT32_ARRAY_SHORT,
    INT32_PACK,
    INT32_UNPACK,
    ZERO_UUID,
    decode_failed,
    encode_failed,
    length_read,
    null_read,
    read_string_length_tail,
    read_uvarint,
    read_uvarint_tail,
    skip_tagged_fields,
    uuid_written,
    write_string_length,
    write_uvarint,
)

_EMPTY: Final[list[Any]] = []
_pack_u = Struct(">16s").pack
_unpack_u = Struct(">16s").unpack_from
_pack_zbz = Struct(">?b?").pack
_unpack_zbz = Struct(">?b?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iz = Struct(">i?").pack
_unpack_iz = Struct(">i?").unpack_from
_pack_ih = Struct(">ih").pack
_unpack_ih = Struct(">ih").unpack_from


class CreatableReplicaAssignment:
    """Part of CreateTopicsRequest."""

    __slots__ = ("partition_index", "broker_ids")

    partition_index: int
    broker_ids: list[int]

    def __init__(
        self,
        *,
        partition_index: int = 0,
        broker_ids: list[int] = _EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = [] if broker_ids is _EMPTY else broker_ids

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatableReplicaAssignment):
            return NotImplemented
        return (
            self.partition_index == other.partition_index
            and self.broker_ids == other.broker_ids
        )

    def __repr__(self) -> str:
        return f"CreatableReplicaAssignment(partition_index={self.partition_index!r}, broker_ids={self.broker_ids!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 5
        buf += _pack_i(self.partition_index)
        n = len(self.broker_ids)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        if n < INT32_ARRAY_SHORT:
            buf += INT32_PACK[n](*self.broker_ids)
        else:
            buf += _pack_n(f">{n}i", *self.broker_ids)
        if flexible:
            buf.append(0)


def _read_CreatableReplicaAssignment(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatableReplicaAssignment, int]:
    flexible = version >= 5
    self = CreatableReplicaAssignment.__new__(CreatableReplicaAssignment)
    (self.partition_index,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_i(buf, pos)
        pos += 4
    if n < 0:
        raise null_read("CreatableReplicaAssignment.broker_ids")
    if n * 4 > end - pos:
        raise length_read("CreatableReplicaAssignment.broker_ids", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.broker_ids = list(INT32_UNPACK[n](buf, pos))
    else:
        self.broker_ids = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatableTopicConfig:
    """Part of CreateTopicsRequest."""

    __slots__ = ("name", "value")

    name: str
    value: str | None

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatableTopicConfig):
            return NotImplemented
        return (
            self.name == other.name
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"CreatableTopicConfig(name={self.name!r}, value={self.value!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 5
        data = self.name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        v_value = self.value
        if v_value is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_value.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if flexible:
            buf.append(0)


def _read_CreatableTopicConfig(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatableTopicConfig, int]:
    flexible = version >= 5
    self = CreatableTopicConfig.__new__(CreatableTopicConfig)
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_h(buf, pos)
        pos += 2
    if n < 0:
        raise null_read("CreatableTopicConfig.name")
    stop = pos + n
    if stop > end:
        raise length_read("CreatableTopicConfig.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_h(buf, pos)
        pos += 2
    if n < 0:
        self.value = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("CreatableTopicConfig.value", n, end - pos)
        self.value = str(buf[pos:stop], "utf-8")
        pos = stop
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatableTopic:
    """Part of CreateTopicsRequest."""

    __slots__ = ("name", "num_partitions", "replication_factor", "assignments", "configs")

    name: str
    num_partitions: int
    replication_factor: int
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]

    def __init__(
        self,
        *,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = _EMPTY,
        configs: list[CreatableTopicConfig] = _EMPTY,
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = [] if assignments is _EMPTY else assignments
        self.configs = [] if configs is _EMPTY else configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatableTopic):
            return NotImplemented
        return (
            self.name == other.name
            and self.num_partitions == other.num_partitions
            and self.replication_factor == other.replication_factor
            and self.assignments == other.assignments
            and self.configs == other.configs
        )

    def __repr__(self) -> str:
        return f"CreatableTopic(name={self.name!r}, num_partitions={self.num_partitions!r}, replication_factor={self.replication_factor!r}, assignments={self.assignments!r}, configs={self.configs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 5
        data = self.name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        buf += _pack_ih(self.num_partitions, self.replication_factor)
        n = len(self.assignments)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_assignments in self.assignments:
            i_assignments.encode(out, version)
        n = len(self.configs)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
        else:
            buf += _pack_i(n)
        for i_configs in self.configs:
            i_configs.encode(out, version)
        if flexible:
            buf.append(0)


def _read_CreatableTopic(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatableTopic, int]:
    flexible = version >= 5
    self = CreatableTopic.__new__(CreatableTopic)
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_h(buf, pos)
        pos += 2
    if n < 0:
        raise null_read("CreatableTopic.name")
    stop = pos + n
    if stop > end:
        raise length_read("CreatableTopic.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.num_partitions, self.replication_factor = _unpack_ih(buf, pos)
    pos += 6
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_i(buf, pos)
        pos += 4
    if n < 0:
        raise null_read("CreatableTopic.assignments")
    if n * 6 > end - pos:
        raise length_read("CreatableTopic.assignments", n, end - pos)
    l_assignments: list[CreatableReplicaAssignment] = []
    for _ in range(n):
        i_assignments, pos = _read_CreatableReplicaAssignment(buf, pos, end, version)
        l_assignments.append(i_assignments)
    self.assignments = l_assignments
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_i(buf, pos)
        pos += 4
    if n < 0:
        raise null_read("CreatableTopic.configs")
    if n * 3 > end - pos:
        raise length_read("CreatableTopic.configs", n, end - pos)
    l_configs: list[CreatableTopicConfig] = []
    for _ in range(n):
        i_configs, pos = _read_CreatableTopicConfig(buf, pos, end, version)
        l_configs.append(i_configs)
    self.configs = l_configs
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreateTopicsRequest:
    """Versions 2 to 7, flexible from 5."""

    __slots__ = ("topics", "timeout_ms", "validate_only")

    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 5

    topics: list[CreatableTopic]
    timeout_ms: int
    validate_only: bool

    def __init__(
        self,
        *,
        topics: list[CreatableTopic] = _EMPTY,
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics = [] if topics is _EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreateTopicsRequest):
            return NotImplemented
        return (
            self.topics == other.topics
            and self.timeout_ms == other.timeout_ms
            and self.validate_only == other.validate_only
        )

    def __repr__(self) -> str:
        return f"CreateTopicsRequest(topics={self.topics!r}, timeout_ms={self.timeout_ms!r}, validate_only={self.validate_only!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 7:
            raise encode_failed("CreateTopicsRequest", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 5
            n = len(self.topics)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            buf += _pack_iz(self.timeout_ms, self.validate_only)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreateTopicsRequest", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreateTopicsRequest, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 7:
            raise decode_failed("CreateTopicsRequest", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreateTopicsRequest", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreateTopicsRequest(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreateTopicsRequest", version, error) from error
        if pos > end:
            raise decode_failed("CreateTopicsRequest", version, "truncated")
        return message, pos


def _read_CreateTopicsRequest(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreateTopicsRequest, int]:
    flexible = version >= 5
    self = CreateTopicsRequest.__new__(CreateTopicsRequest)
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_i(buf, pos)
        pos += 4
    if n < 0:
        raise null_read("CreateTopicsRequest.topics")
    if n * 10 > end - pos:
        raise length_read("CreateTopicsRequest.topics", n, end - pos)
    l_topics: list[CreatableTopic] = []
    for _ in range(n):
        i_topics, pos = _read_CreatableTopic(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    self.timeout_ms, self.validate_only = _unpack_iz(buf, pos)
    pos += 5
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatableTopicConfigs:
    """Part of CreateTopicsResponse."""

    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive")

    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatableTopicConfigs):
            return NotImplemented
        return (
            self.name == other.name
            and self.value == other.value
            and self.read_only == other.read_only
            and self.config_source == other.config_source
            and self.is_sensitive == other.is_sensitive
        )

    def __repr__(self) -> str:
        return f"CreatableTopicConfigs(name={self.name!r}, value={self.value!r}, read_only={self.read_only!r}, config_source={self.config_source!r}, is_sensitive={self.is_sensitive!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        v_value = self.value
        if v_value is None:
            buf.append(0)
        else:
            data = v_value.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        buf += _pack_zbz(self.read_only, self.config_source, self.is_sensitive)
        buf.append(0)


def _read_CreatableTopicConfigs(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatableTopicConfigs, int]:
    self = CreatableTopicConfigs.__new__(CreatableTopicConfigs)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("CreatableTopicConfigs.name")
    stop = pos + n
    if stop > end:
        raise length_read("CreatableTopicConfigs.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.value = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("CreatableTopicConfigs.value", n, end - pos)
        self.value = str(buf[pos:stop], "utf-8")
        pos = stop
    self.read_only, self.config_source, self.is_sensitive = _unpack_zbz(buf, pos)
    pos += 3
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class CreatableTopicResult:
    """Part of CreateTopicsResponse."""

    __slots__ = ("name", "topic_id", "error_code", "error_message", "topic_config_error_code", "num_partitions", "replication_factor", "configs")

    name: str
    topic_id: bytes
    error_code: int
    error_message: str | None
    topic_config_error_code: int
    num_partitions: int
    replication_factor: int
    configs: list[CreatableTopicConfigs] | None

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = _EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = [] if configs is _EMPTY else configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreatableTopicResult):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
            and self.error_code == other.error_code
            and self.error_message == other.error_message
            and self.topic_config_error_code == other.topic_config_error_code
            and self.num_partitions == other.num_partitions
            and self.replication_factor == other.replication_factor
            and self.configs == other.configs
        )

    def __repr__(self) -> str:
        return f"CreatableTopicResult(name={self.name!r}, topic_id={self.topic_id!r}, error_code={self.error_code!r}, error_message={self.error_message!r}, topic_config_error_code={self.topic_config_error_code!r}, num_partitions={self.num_partitions!r}, replication_factor={self.replication_factor!r}, configs={self.configs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        flexible = version >= 5
        data = self.name.encode()
        n = len(data)
        if flexible:
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
        else:
            buf += _pack_h(n)
        buf += data
        if version >= 7:
            if len(self.topic_id) != 16:
                raise uuid_written("CreatableTopicResult.topic_id")
            buf += _pack_u(self.topic_id)
        buf += _pack_h(self.error_code)
        v_error_message = self.error_message
        if v_error_message is None:
            if flexible:
                buf.append(0)
            else:
                buf += b"\xff\xff"
        else:
            data = v_error_message.encode()
            n = len(data)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
            else:
                buf += _pack_h(n)
            buf += data
        if version >= 5:
            buf += _pack_ih(self.num_partitions, self.replication_factor)
        if version >= 5:
            v_configs = self.configs
            if v_configs is None:
                buf.append(0)
            else:
                n = len(v_configs)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_configs in v_configs:
                    i_configs.encode(out, version)
        if flexible:
            count = 0
            if self.topic_config_error_code != 0:
                count += 1
            buf.append(count)
            if count:
                if self.topic_config_error_code != 0:
                    buf += b"\x00\x02"
                    buf += _pack_h(self.topic_config_error_code)


def _read_CreatableTopicResult(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreatableTopicResult, int]:
    flexible = version >= 5
    self = CreatableTopicResult.__new__(CreatableTopicResult)
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_h(buf, pos)
        pos += 2
    if n < 0:
        raise null_read("CreatableTopicResult.name")
    stop = pos + n
    if stop > end:
        raise length_read("CreatableTopicResult.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    if version >= 7:
        (self.topic_id,) = _unpack_u(buf, pos)
        pos += 16
    else:
        self.topic_id = ZERO_UUID
    (self.error_code,) = _unpack_h(buf, pos)
    pos += 2
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_h(buf, pos)
        pos += 2
    if n < 0:
        self.error_message = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("CreatableTopicResult.error_message", n, end - pos)
        self.error_message = str(buf[pos:stop], "utf-8")
        pos = stop
    if version >= 5:
        self.num_partitions, self.replication_factor = _unpack_ih(buf, pos)
        pos += 6
    else:
        self.num_partitions = -1
        self.replication_factor = -1
    if version >= 5:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            self.configs = None
        else:
            if n * 6 > end - pos:
                raise length_read("CreatableTopicResult.configs", n, end - pos)
            l_configs: list[CreatableTopicConfigs] = []
            for _ in range(n):
                i_configs, pos = _read_CreatableTopicConfigs(buf, pos, end, version)
                l_configs.append(i_configs)
            self.configs = l_configs
    else:
        self.configs = []
    self.topic_config_error_code = 0
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            count, pos = read_uvarint(buf, pos)
            if count * 2 > end - pos:
                raise length_read("CreatableTopicResult tags", count, end - pos)
            for _ in range(count):
                tag, pos = read_uvarint(buf, pos)
                size, pos = read_uvarint(buf, pos)
                tag_end = pos + size
                if tag_end > end:
                    raise length_read("CreatableTopicResult tag", size, end - pos)
                if tag == 0:
                    (self.topic_config_error_code,) = _unpack_h(buf, pos)
                    pos += 2
                else:
                    pos = tag_end
                if pos != tag_end:
                    raise DecodeError(f"CreatableTopicResult: tag {tag} does not fill its {size} bytes")
    return self, pos


class CreateTopicsResponse:
    """Versions 2 to 7, flexible from 5."""

    __slots__ = ("throttle_time_ms", "topics")

    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 5

    throttle_time_ms: int
    topics: list[CreatableTopicResult]

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = _EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is _EMPTY else topics

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CreateTopicsResponse):
            return NotImplemented
        return (
            self.throttle_time_ms == other.throttle_time_ms
            and self.topics == other.topics
        )

    def __repr__(self) -> str:
        return f"CreateTopicsResponse(throttle_time_ms={self.throttle_time_ms!r}, topics={self.topics!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 2 or version > 7:
            raise encode_failed("CreateTopicsResponse", version, "no such version")
        try:
            buf = out.buf
            flexible = version >= 5
            buf += _pack_i(self.throttle_time_ms)
            n = len(self.topics)
            if flexible:
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
            else:
                buf += _pack_i(n)
            for i_topics in self.topics:
                i_topics.encode(out, version)
            if flexible:
                buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("CreateTopicsResponse", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[CreateTopicsResponse, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 2 or version > 7:
            raise decode_failed("CreateTopicsResponse", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("CreateTopicsResponse", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_CreateTopicsResponse(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("CreateTopicsResponse", version, error) from error
        if pos > end:
            raise decode_failed("CreateTopicsResponse", version, "truncated")
        return message, pos


def _read_CreateTopicsResponse(buf: memoryview, pos: int, end: int, version: int) -> tuple[CreateTopicsResponse, int]:
    flexible = version >= 5
    self = CreateTopicsResponse.__new__(CreateTopicsResponse)
    (self.throttle_time_ms,) = _unpack_i(buf, pos)
    pos += 4
    if flexible:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
    else:
        (n,) = _unpack_i(buf, pos)
        pos += 4
    if n < 0:
        raise null_read("CreateTopicsResponse.topics")
    if n * 6 > end - pos:
        raise length_read("CreateTopicsResponse.topics", n, end - pos)
    l_topics: list[CreatableTopicResult] = []
    for _ in range(n):
        i_topics, pos = _read_CreatableTopicResult(buf, pos, end, version)
        l_topics.append(i_topics)
    self.topics = l_topics
    if flexible:
        if buf[pos] == 0:
            pos += 1
        else:
            pos = skip_tagged_fields(buf, pos, end)
    return self, pos
