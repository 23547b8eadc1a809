"""cluster_metadata. Generated from schema/records/cluster_metadata.txt by tools/generate_messages.py; do not edit."""

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
    field_unsupported,
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
_pack_ub = Struct(">16sb").pack
_unpack_ub = Struct(">16sb").unpack_from
_pack_uq = Struct(">16sq").pack
_unpack_uq = Struct(">16sq").unpack_from
_pack_z = Struct(">?").pack
_unpack_z = Struct(">?").unpack_from
_pack_Hh = Struct(">Hh").pack
_unpack_Hh = Struct(">Hh").unpack_from
_pack_b = Struct(">b").pack
_unpack_b = Struct(">b").unpack_from
_pack_2b = Struct(">bb").pack
_unpack_2b = Struct(">bb").unpack_from
_pack_dz = Struct(">d?").pack
_unpack_dz = Struct(">d?").unpack_from
_pack_h = Struct(">h").pack
_unpack_h = Struct(">h").unpack_from
_pack_2h = Struct(">hh").pack
_unpack_2h = Struct(">hh").unpack_from
_pack_i = Struct(">i").pack
_unpack_i = Struct(">i").unpack_from
_pack_iu = Struct(">i16s").pack
_unpack_iu = Struct(">i16s").unpack_from
_pack_iuz = Struct(">i16s?").pack
_unpack_iuz = Struct(">i16s?").unpack_from
_pack_3i = Struct(">iii").pack
_unpack_3i = Struct(">iii").unpack_from
_pack_iq = Struct(">iq").pack
_unpack_iq = Struct(">iq").unpack_from
_pack_i2q = Struct(">iqq").pack
_unpack_i2q = Struct(">iqq").unpack_from
_pack_3q = Struct(">qqq").pack
_unpack_3q = Struct(">qqq").unpack_from


class BrokerEndpoint:
    """Part of RegisterBrokerRecord."""

    __slots__ = ("name", "host", "port", "security_protocol")

    name: str
    host: str
    port: int
    security_protocol: int

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerEndpoint):
            return NotImplemented
        return (
            self.name == other.name
            and self.host == other.host
            and self.port == other.port
            and self.security_protocol == other.security_protocol
        )

    def __repr__(self) -> str:
        return f"BrokerEndpoint(name={self.name!r}, host={self.host!r}, port={self.port!r}, security_protocol={self.security_protocol!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_Hh(self.port, self.security_protocol)
        buf.append(0)


def _read_BrokerEndpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerEndpoint, int]:
    self = BrokerEndpoint.__new__(BrokerEndpoint)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("BrokerEndpoint.name")
    stop = pos + n
    if stop > end:
        raise length_read("BrokerEndpoint.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("BrokerEndpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("BrokerEndpoint.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    self.port, self.security_protocol = _unpack_Hh(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BrokerFeature:
    """Part of RegisterBrokerRecord."""

    __slots__ = ("name", "min_supported_version", "max_supported_version")

    name: str
    min_supported_version: int
    max_supported_version: int

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerFeature):
            return NotImplemented
        return (
            self.name == other.name
            and self.min_supported_version == other.min_supported_version
            and self.max_supported_version == other.max_supported_version
        )

    def __repr__(self) -> str:
        return f"BrokerFeature(name={self.name!r}, min_supported_version={self.min_supported_version!r}, max_supported_version={self.max_supported_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_2h(self.min_supported_version, self.max_supported_version)
        buf.append(0)


def _read_BrokerFeature(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerFeature, int]:
    self = BrokerFeature.__new__(BrokerFeature)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("BrokerFeature.name")
    stop = pos + n
    if stop > end:
        raise length_read("BrokerFeature.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.min_supported_version, self.max_supported_version = _unpack_2h(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RegisterBrokerRecord:
    """Versions 0 to 3."""

    __slots__ = ("broker_id", "is_migrating_zk_broker", "incarnation_id", "broker_epoch", "end_points", "features", "rack", "fenced", "in_controlled_shutdown", "log_dirs")

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    is_migrating_zk_broker: bool
    incarnation_id: bytes
    broker_epoch: int
    end_points: list[BrokerEndpoint]
    features: list[BrokerFeature]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: list[bytes]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        is_migrating_zk_broker: bool = False,
        incarnation_id: bytes = ZERO_UUID,
        broker_epoch: int = 0,
        end_points: list[BrokerEndpoint] = _EMPTY,
        features: list[BrokerFeature] = _EMPTY,
        rack: str | None = "",
        fenced: bool = True,
        in_controlled_shutdown: bool = False,
        log_dirs: list[bytes] = _EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points = [] if end_points is _EMPTY else end_points
        self.features = [] if features is _EMPTY else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is _EMPTY else log_dirs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RegisterBrokerRecord):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.is_migrating_zk_broker == other.is_migrating_zk_broker
            and self.incarnation_id == other.incarnation_id
            and self.broker_epoch == other.broker_epoch
            and self.end_points == other.end_points
            and self.features == other.features
            and self.rack == other.rack
            and self.fenced == other.fenced
            and self.in_controlled_shutdown == other.in_controlled_shutdown
            and self.log_dirs == other.log_dirs
        )

    def __repr__(self) -> str:
        return f"RegisterBrokerRecord(broker_id={self.broker_id!r}, is_migrating_zk_broker={self.is_migrating_zk_broker!r}, incarnation_id={self.incarnation_id!r}, broker_epoch={self.broker_epoch!r}, end_points={self.end_points!r}, features={self.features!r}, rack={self.rack!r}, fenced={self.fenced!r}, in_controlled_shutdown={self.in_controlled_shutdown!r}, log_dirs={self.log_dirs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 3:
            raise encode_failed("RegisterBrokerRecord", version, "no such version")
        try:
            if version < 2:
                if self.is_migrating_zk_broker:
                    raise field_unsupported("RegisterBrokerRecord.is_migrating_zk_broker", version)
            if version < 1:
                if self.in_controlled_shutdown:
                    raise field_unsupported("RegisterBrokerRecord.in_controlled_shutdown", version)
            if version < 3:
                if self.log_dirs:
                    raise field_unsupported("RegisterBrokerRecord.log_dirs", version)
            buf = out.buf
            buf += _pack_i(self.broker_id)
            if version >= 2:
                buf += _pack_z(self.is_migrating_zk_broker)
            if len(self.incarnation_id) != 16:
                raise uuid_written("RegisterBrokerRecord.incarnation_id")
            buf += _pack_uq(self.incarnation_id, self.broker_epoch)
            n = len(self.end_points)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_end_points in self.end_points:
                i_end_points.encode(out, version)
            n = len(self.features)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_features in self.features:
                i_features.encode(out, version)
            v_rack = self.rack
            if v_rack is None:
                buf.append(0)
            else:
                data = v_rack.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_z(self.fenced)
            if version >= 1:
                buf += _pack_z(self.in_controlled_shutdown)
            count = 0
            if version >= 3 and (self.log_dirs):
                count += 1
            buf.append(count)
            if count:
                if version >= 3 and (self.log_dirs):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.log_dirs)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    for i_log_dirs in self.log_dirs:
                        if len(i_log_dirs) != 16:
                            raise uuid_written("RegisterBrokerRecord.log_dirs")
                        sub_buf += i_log_dirs
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("RegisterBrokerRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RegisterBrokerRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 3:
            raise decode_failed("RegisterBrokerRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RegisterBrokerRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RegisterBrokerRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RegisterBrokerRecord", version, error) from error
        if pos > end:
            raise decode_failed("RegisterBrokerRecord", version, "truncated")
        return message, pos


def _read_RegisterBrokerRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RegisterBrokerRecord, int]:
    self = RegisterBrokerRecord.__new__(RegisterBrokerRecord)
    (self.broker_id,) = _unpack_i(buf, pos)
    pos += 4
    if version >= 2:
        self.is_migrating_zk_broker = buf[pos] != 0
        pos += 1
    else:
        self.is_migrating_zk_broker = False
    self.incarnation_id, self.broker_epoch = _unpack_uq(buf, pos)
    pos += 24
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RegisterBrokerRecord.end_points")
    if n * 7 > end - pos:
        raise length_read("RegisterBrokerRecord.end_points", n, end - pos)
    l_end_points: list[BrokerEndpoint] = []
    for _ in range(n):
        i_end_points, pos = _read_BrokerEndpoint(buf, pos, end, version)
        l_end_points.append(i_end_points)
    self.end_points = l_end_points
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RegisterBrokerRecord.features")
    if n * 6 > end - pos:
        raise length_read("RegisterBrokerRecord.features", n, end - pos)
    l_features: list[BrokerFeature] = []
    for _ in range(n):
        i_features, pos = _read_BrokerFeature(buf, pos, end, version)
        l_features.append(i_features)
    self.features = l_features
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.rack = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("RegisterBrokerRecord.rack", n, end - pos)
        self.rack = str(buf[pos:stop], "utf-8")
        pos = stop
    self.fenced = buf[pos] != 0
    pos += 1
    if version >= 1:
        self.in_controlled_shutdown = buf[pos] != 0
        pos += 1
    else:
        self.in_controlled_shutdown = False
    self.log_dirs = []
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("RegisterBrokerRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("RegisterBrokerRecord tag", size, end - pos)
            if tag == 0 and version >= 3:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    raise null_read("RegisterBrokerRecord.log_dirs")
                if n * 16 > end - pos:
                    raise length_read("RegisterBrokerRecord.log_dirs", n, end - pos)
                l_log_dirs: list[bytes] = []
                for _ in range(n):
                    l_log_dirs.append(bytes(buf[pos : pos + 16]))
                    pos += 16
                self.log_dirs = l_log_dirs
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"RegisterBrokerRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


class UnregisterBrokerRecord:
    """Version 0."""

    __slots__ = ("broker_id", "broker_epoch")

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnregisterBrokerRecord):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
        )

    def __repr__(self) -> str:
        return f"UnregisterBrokerRecord(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("UnregisterBrokerRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.broker_id, self.broker_epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UnregisterBrokerRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UnregisterBrokerRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("UnregisterBrokerRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UnregisterBrokerRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UnregisterBrokerRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UnregisterBrokerRecord", version, error) from error
        if pos > end:
            raise decode_failed("UnregisterBrokerRecord", version, "truncated")
        return message, pos


def _read_UnregisterBrokerRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[UnregisterBrokerRecord, int]:
    self = UnregisterBrokerRecord.__new__(UnregisterBrokerRecord)
    self.broker_id, self.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class TopicRecord:
    """Version 0."""

    __slots__ = ("name", "topic_id")

    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    name: str
    topic_id: bytes

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TopicRecord):
            return NotImplemented
        return (
            self.name == other.name
            and self.topic_id == other.topic_id
        )

    def __repr__(self) -> str:
        return f"TopicRecord(name={self.name!r}, topic_id={self.topic_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("TopicRecord", version, "no such version")
        try:
            buf = out.buf
            data = self.name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            if len(self.topic_id) != 16:
                raise uuid_written("TopicRecord.topic_id")
            buf += _pack_u(self.topic_id)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("TopicRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[TopicRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("TopicRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("TopicRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_TopicRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("TopicRecord", version, error) from error
        if pos > end:
            raise decode_failed("TopicRecord", version, "truncated")
        return message, pos


def _read_TopicRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[TopicRecord, int]:
    self = TopicRecord.__new__(TopicRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("TopicRecord.name")
    stop = pos + n
    if stop > end:
        raise length_read("TopicRecord.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionRecord:
    """Versions 0 to 2."""

    __slots__ = ("partition_id", "topic_id", "replicas", "isr", "removing_replicas", "adding_replicas", "leader", "leader_recovery_state", "leader_epoch", "partition_epoch", "directories", "eligible_leader_replicas", "last_known_elr")

    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    partition_id: int
    topic_id: bytes
    replicas: list[int]
    isr: list[int]
    removing_replicas: list[int]
    adding_replicas: list[int]
    leader: int
    leader_recovery_state: int
    leader_epoch: int
    partition_epoch: int
    directories: list[bytes]
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        replicas: list[int] = _EMPTY,
        isr: list[int] = _EMPTY,
        removing_replicas: list[int] = _EMPTY,
        adding_replicas: list[int] = _EMPTY,
        leader: int = -1,
        leader_recovery_state: int = 0,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        directories: list[bytes] = _EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.replicas = [] if replicas is _EMPTY else replicas
        self.isr = [] if isr is _EMPTY else isr
        self.removing_replicas = [] if removing_replicas is _EMPTY else removing_replicas
        self.adding_replicas = [] if adding_replicas is _EMPTY else adding_replicas
        self.leader = leader
        self.leader_recovery_state = leader_recovery_state
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.directories = [] if directories is _EMPTY else directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionRecord):
            return NotImplemented
        return (
            self.partition_id == other.partition_id
            and self.topic_id == other.topic_id
            and self.replicas == other.replicas
            and self.isr == other.isr
            and self.removing_replicas == other.removing_replicas
            and self.adding_replicas == other.adding_replicas
            and self.leader == other.leader
            and self.leader_recovery_state == other.leader_recovery_state
            and self.leader_epoch == other.leader_epoch
            and self.partition_epoch == other.partition_epoch
            and self.directories == other.directories
            and self.eligible_leader_replicas == other.eligible_leader_replicas
            and self.last_known_elr == other.last_known_elr
        )

    def __repr__(self) -> str:
        return f"PartitionRecord(partition_id={self.partition_id!r}, topic_id={self.topic_id!r}, replicas={self.replicas!r}, isr={self.isr!r}, removing_replicas={self.removing_replicas!r}, adding_replicas={self.adding_replicas!r}, leader={self.leader!r}, leader_recovery_state={self.leader_recovery_state!r}, leader_epoch={self.leader_epoch!r}, partition_epoch={self.partition_epoch!r}, directories={self.directories!r}, eligible_leader_replicas={self.eligible_leader_replicas!r}, last_known_elr={self.last_known_elr!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("PartitionRecord", version, "no such version")
        try:
            if version < 1:
                if self.directories:
                    raise field_unsupported("PartitionRecord.directories", version)
            if version < 2:
                if self.eligible_leader_replicas is not None:
                    raise field_unsupported("PartitionRecord.eligible_leader_replicas", version)
                if self.last_known_elr is not None:
                    raise field_unsupported("PartitionRecord.last_known_elr", version)
            buf = out.buf
            if len(self.topic_id) != 16:
                raise uuid_written("PartitionRecord.topic_id")
            buf += _pack_iu(self.partition_id, self.topic_id)
            n = len(self.replicas)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*self.replicas)
            else:
                buf += _pack_n(f">{n}i", *self.replicas)
            n = len(self.isr)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*self.isr)
            else:
                buf += _pack_n(f">{n}i", *self.isr)
            n = len(self.removing_replicas)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*self.removing_replicas)
            else:
                buf += _pack_n(f">{n}i", *self.removing_replicas)
            n = len(self.adding_replicas)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            if n < INT32_ARRAY_SHORT:
                buf += INT32_PACK[n](*self.adding_replicas)
            else:
                buf += _pack_n(f">{n}i", *self.adding_replicas)
            buf += _pack_3i(self.leader, self.leader_epoch, self.partition_epoch)
            if version >= 1:
                n = len(self.directories)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_uvarint(buf, n + 1)
                for i_directories in self.directories:
                    if len(i_directories) != 16:
                        raise uuid_written("PartitionRecord.directories")
                    buf += i_directories
            count = 0
            if self.leader_recovery_state != 0:
                count += 1
            if version >= 2 and (self.eligible_leader_replicas is not None):
                count += 1
            if version >= 2 and (self.last_known_elr is not None):
                count += 1
            buf.append(count)
            if count:
                if self.leader_recovery_state != 0:
                    buf += b"\x00\x01"
                    buf += _pack_b(self.leader_recovery_state)
                if version >= 2 and (self.eligible_leader_replicas is not None):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.eligible_leader_replicas)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.eligible_leader_replicas)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.eligible_leader_replicas)
                    buf.append(1)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if version >= 2 and (self.last_known_elr is not None):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.last_known_elr)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.last_known_elr)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.last_known_elr)
                    buf.append(2)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("PartitionRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[PartitionRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("PartitionRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("PartitionRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_PartitionRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("PartitionRecord", version, error) from error
        if pos > end:
            raise decode_failed("PartitionRecord", version, "truncated")
        return message, pos


def _read_PartitionRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionRecord, int]:
    self = PartitionRecord.__new__(PartitionRecord)
    self.partition_id, self.topic_id = _unpack_iu(buf, pos)
    pos += 20
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionRecord.replicas")
    if n * 4 > end - pos:
        raise length_read("PartitionRecord.replicas", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.replicas = list(INT32_UNPACK[n](buf, pos))
    else:
        self.replicas = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionRecord.isr")
    if n * 4 > end - pos:
        raise length_read("PartitionRecord.isr", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.isr = list(INT32_UNPACK[n](buf, pos))
    else:
        self.isr = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionRecord.removing_replicas")
    if n * 4 > end - pos:
        raise length_read("PartitionRecord.removing_replicas", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.removing_replicas = list(INT32_UNPACK[n](buf, pos))
    else:
        self.removing_replicas = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("PartitionRecord.adding_replicas")
    if n * 4 > end - pos:
        raise length_read("PartitionRecord.adding_replicas", n, end - pos)
    if n < INT32_ARRAY_SHORT:
        self.adding_replicas = list(INT32_UNPACK[n](buf, pos))
    else:
        self.adding_replicas = list(_unpack_n(f">{n}i", buf, pos))
    pos += n * 4
    self.leader, self.leader_epoch, self.partition_epoch = _unpack_3i(buf, pos)
    pos += 12
    if version >= 1:
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_uvarint_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("PartitionRecord.directories")
        if n * 16 > end - pos:
            raise length_read("PartitionRecord.directories", n, end - pos)
        l_directories: list[bytes] = []
        for _ in range(n):
            l_directories.append(bytes(buf[pos : pos + 16]))
            pos += 16
        self.directories = l_directories
    else:
        self.directories = []
    self.leader_recovery_state = 0
    self.eligible_leader_replicas = None
    self.last_known_elr = None
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("PartitionRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("PartitionRecord tag", size, end - pos)
            if tag == 0:
                (self.leader_recovery_state,) = _unpack_b(buf, pos)
                pos += 1
            elif tag == 1 and version >= 2:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.eligible_leader_replicas = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionRecord.eligible_leader_replicas", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.eligible_leader_replicas = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.eligible_leader_replicas = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            elif tag == 2 and version >= 2:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.last_known_elr = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionRecord.last_known_elr", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.last_known_elr = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.last_known_elr = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"PartitionRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


class ConfigRecord:
    """Version 0."""

    __slots__ = ("resource_type", "resource_name", "name", "value")

    RECORD_TYPE: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    resource_type: int
    resource_name: str
    name: str
    value: str | None

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.name = name
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfigRecord):
            return NotImplemented
        return (
            self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.name == other.name
            and self.value == other.value
        )

    def __repr__(self) -> str:
        return f"ConfigRecord(resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, name={self.name!r}, value=<hidden>)"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ConfigRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_b(self.resource_type)
            data = self.resource_name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
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
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ConfigRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ConfigRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ConfigRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ConfigRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ConfigRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ConfigRecord", version, error) from error
        if pos > end:
            raise decode_failed("ConfigRecord", version, "truncated")
        return message, pos


def _read_ConfigRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[ConfigRecord, int]:
    self = ConfigRecord.__new__(ConfigRecord)
    (self.resource_type,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConfigRecord.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("ConfigRecord.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ConfigRecord.name")
    stop = pos + n
    if stop > end:
        raise length_read("ConfigRecord.name", n, end - pos)
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
            raise length_read("ConfigRecord.value", n, end - pos)
        self.value = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class PartitionChangeRecord:
    """Versions 0 to 2."""

    __slots__ = ("partition_id", "topic_id", "isr", "leader", "replicas", "removing_replicas", "adding_replicas", "leader_recovery_state", "directories", "eligible_leader_replicas", "last_known_elr")

    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    partition_id: int
    topic_id: bytes
    isr: list[int] | None
    leader: int
    replicas: list[int] | None
    removing_replicas: list[int] | None
    adding_replicas: list[int] | None
    leader_recovery_state: int
    directories: list[bytes] | None
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None

    def __init__(
        self,
        *,
        partition_id: int = -1,
        topic_id: bytes = ZERO_UUID,
        isr: list[int] | None = None,
        leader: int = -2,
        replicas: list[int] | None = None,
        removing_replicas: list[int] | None = None,
        adding_replicas: list[int] | None = None,
        leader_recovery_state: int = -1,
        directories: list[bytes] | None = None,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
    ) -> None:
        self.partition_id = partition_id
        self.topic_id = topic_id
        self.isr = isr
        self.leader = leader
        self.replicas = replicas
        self.removing_replicas = removing_replicas
        self.adding_replicas = adding_replicas
        self.leader_recovery_state = leader_recovery_state
        self.directories = directories
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionChangeRecord):
            return NotImplemented
        return (
            self.partition_id == other.partition_id
            and self.topic_id == other.topic_id
            and self.isr == other.isr
            and self.leader == other.leader
            and self.replicas == other.replicas
            and self.removing_replicas == other.removing_replicas
            and self.adding_replicas == other.adding_replicas
            and self.leader_recovery_state == other.leader_recovery_state
            and self.directories == other.directories
            and self.eligible_leader_replicas == other.eligible_leader_replicas
            and self.last_known_elr == other.last_known_elr
        )

    def __repr__(self) -> str:
        return f"PartitionChangeRecord(partition_id={self.partition_id!r}, topic_id={self.topic_id!r}, isr={self.isr!r}, leader={self.leader!r}, replicas={self.replicas!r}, removing_replicas={self.removing_replicas!r}, adding_replicas={self.adding_replicas!r}, leader_recovery_state={self.leader_recovery_state!r}, directories={self.directories!r}, eligible_leader_replicas={self.eligible_leader_replicas!r}, last_known_elr={self.last_known_elr!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("PartitionChangeRecord", version, "no such version")
        try:
            if version < 1:
                if self.directories is not None:
                    raise field_unsupported("PartitionChangeRecord.directories", version)
            if version < 2:
                if self.eligible_leader_replicas is not None:
                    raise field_unsupported("PartitionChangeRecord.eligible_leader_replicas", version)
                if self.last_known_elr is not None:
                    raise field_unsupported("PartitionChangeRecord.last_known_elr", version)
            buf = out.buf
            if len(self.topic_id) != 16:
                raise uuid_written("PartitionChangeRecord.topic_id")
            buf += _pack_iu(self.partition_id, self.topic_id)
            count = 0
            if self.isr is not None:
                count += 1
            if self.leader != -2:
                count += 1
            if self.replicas is not None:
                count += 1
            if self.removing_replicas is not None:
                count += 1
            if self.adding_replicas is not None:
                count += 1
            if self.leader_recovery_state != -1:
                count += 1
            if version >= 2 and (self.eligible_leader_replicas is not None):
                count += 1
            if version >= 2 and (self.last_known_elr is not None):
                count += 1
            if version >= 1 and (self.directories is not None):
                count += 1
            buf.append(count)
            if count:
                if self.isr is not None:
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.isr)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.isr)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.isr)
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if self.leader != -2:
                    buf += b"\x01\x04"
                    buf += _pack_i(self.leader)
                if self.replicas is not None:
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.replicas)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.replicas)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.replicas)
                    buf.append(2)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if self.removing_replicas is not None:
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.removing_replicas)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.removing_replicas)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.removing_replicas)
                    buf.append(3)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if self.adding_replicas is not None:
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.adding_replicas)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.adding_replicas)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.adding_replicas)
                    buf.append(4)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if self.leader_recovery_state != -1:
                    buf += b"\x05\x01"
                    buf += _pack_b(self.leader_recovery_state)
                if version >= 2 and (self.eligible_leader_replicas is not None):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.eligible_leader_replicas)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.eligible_leader_replicas)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.eligible_leader_replicas)
                    buf.append(6)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if version >= 2 and (self.last_known_elr is not None):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.last_known_elr)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    if n < INT32_ARRAY_SHORT:
                        sub_buf += INT32_PACK[n](*self.last_known_elr)
                    else:
                        sub_buf += _pack_n(f">{n}i", *self.last_known_elr)
                    buf.append(7)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
                if version >= 1 and (self.directories is not None):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.directories)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    for i_directories in self.directories:
                        if len(i_directories) != 16:
                            raise uuid_written("PartitionChangeRecord.directories")
                        sub_buf += i_directories
                    buf.append(8)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("PartitionChangeRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[PartitionChangeRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("PartitionChangeRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("PartitionChangeRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_PartitionChangeRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("PartitionChangeRecord", version, error) from error
        if pos > end:
            raise decode_failed("PartitionChangeRecord", version, "truncated")
        return message, pos


def _read_PartitionChangeRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[PartitionChangeRecord, int]:
    self = PartitionChangeRecord.__new__(PartitionChangeRecord)
    self.partition_id, self.topic_id = _unpack_iu(buf, pos)
    pos += 20
    self.isr = None
    self.leader = -2
    self.replicas = None
    self.removing_replicas = None
    self.adding_replicas = None
    self.leader_recovery_state = -1
    self.directories = None
    self.eligible_leader_replicas = None
    self.last_known_elr = None
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("PartitionChangeRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("PartitionChangeRecord tag", size, end - pos)
            if tag == 0:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.isr = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionChangeRecord.isr", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.isr = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.isr = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            elif tag == 1:
                (self.leader,) = _unpack_i(buf, pos)
                pos += 4
            elif tag == 2:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.replicas = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionChangeRecord.replicas", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.replicas = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.replicas = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            elif tag == 3:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.removing_replicas = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionChangeRecord.removing_replicas", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.removing_replicas = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.removing_replicas = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            elif tag == 4:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.adding_replicas = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionChangeRecord.adding_replicas", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.adding_replicas = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.adding_replicas = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            elif tag == 5:
                (self.leader_recovery_state,) = _unpack_b(buf, pos)
                pos += 1
            elif tag == 6 and version >= 2:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.eligible_leader_replicas = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionChangeRecord.eligible_leader_replicas", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.eligible_leader_replicas = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.eligible_leader_replicas = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            elif tag == 7 and version >= 2:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.last_known_elr = None
                else:
                    if n * 4 > end - pos:
                        raise length_read("PartitionChangeRecord.last_known_elr", n, end - pos)
                    if n < INT32_ARRAY_SHORT:
                        self.last_known_elr = list(INT32_UNPACK[n](buf, pos))
                    else:
                        self.last_known_elr = list(_unpack_n(f">{n}i", buf, pos))
                    pos += n * 4
            elif tag == 8 and version >= 1:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.directories = None
                else:
                    if n * 16 > end - pos:
                        raise length_read("PartitionChangeRecord.directories", n, end - pos)
                    l_directories: list[bytes] = []
                    for _ in range(n):
                        l_directories.append(bytes(buf[pos : pos + 16]))
                        pos += 16
                    self.directories = l_directories
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"PartitionChangeRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


class FenceBrokerRecord:
    """Version 0."""

    __slots__ = ("id", "epoch")

    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    id: int
    epoch: int

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
    ) -> None:
        self.id = id
        self.epoch = epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FenceBrokerRecord):
            return NotImplemented
        return (
            self.id == other.id
            and self.epoch == other.epoch
        )

    def __repr__(self) -> str:
        return f"FenceBrokerRecord(id={self.id!r}, epoch={self.epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("FenceBrokerRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.id, self.epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("FenceBrokerRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FenceBrokerRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("FenceBrokerRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FenceBrokerRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FenceBrokerRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FenceBrokerRecord", version, error) from error
        if pos > end:
            raise decode_failed("FenceBrokerRecord", version, "truncated")
        return message, pos


def _read_FenceBrokerRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[FenceBrokerRecord, int]:
    self = FenceBrokerRecord.__new__(FenceBrokerRecord)
    self.id, self.epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UnfenceBrokerRecord:
    """Version 0."""

    __slots__ = ("id", "epoch")

    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    id: int
    epoch: int

    def __init__(
        self,
        *,
        id: int = 0,
        epoch: int = 0,
    ) -> None:
        self.id = id
        self.epoch = epoch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UnfenceBrokerRecord):
            return NotImplemented
        return (
            self.id == other.id
            and self.epoch == other.epoch
        )

    def __repr__(self) -> str:
        return f"UnfenceBrokerRecord(id={self.id!r}, epoch={self.epoch!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("UnfenceBrokerRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_iq(self.id, self.epoch)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UnfenceBrokerRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UnfenceBrokerRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("UnfenceBrokerRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UnfenceBrokerRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UnfenceBrokerRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UnfenceBrokerRecord", version, error) from error
        if pos > end:
            raise decode_failed("UnfenceBrokerRecord", version, "truncated")
        return message, pos


def _read_UnfenceBrokerRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[UnfenceBrokerRecord, int]:
    self = UnfenceBrokerRecord.__new__(UnfenceBrokerRecord)
    self.id, self.epoch = _unpack_iq(buf, pos)
    pos += 12
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoveTopicRecord:
    """Version 0."""

    __slots__ = ("topic_id",)

    RECORD_TYPE: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topic_id: bytes

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.topic_id = topic_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoveTopicRecord):
            return NotImplemented
        return (
            self.topic_id == other.topic_id
        )

    def __repr__(self) -> str:
        return f"RemoveTopicRecord(topic_id={self.topic_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoveTopicRecord", version, "no such version")
        try:
            buf = out.buf
            if len(self.topic_id) != 16:
                raise uuid_written("RemoveTopicRecord.topic_id")
            buf += _pack_u(self.topic_id)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoveTopicRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoveTopicRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoveTopicRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoveTopicRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoveTopicRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoveTopicRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemoveTopicRecord", version, "truncated")
        return message, pos


def _read_RemoveTopicRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoveTopicRecord, int]:
    self = RemoveTopicRecord.__new__(RemoveTopicRecord)
    (self.topic_id,) = _unpack_u(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class DelegationTokenRecord:
    """Version 0."""

    __slots__ = ("owner", "requester", "renewers", "issue_timestamp", "max_timestamp", "expiration_timestamp", "token_id")

    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int
    token_id: str

    def __init__(
        self,
        *,
        owner: str = "",
        requester: str = "",
        renewers: list[str] = _EMPTY,
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
    ) -> None:
        self.owner = owner
        self.requester = requester
        self.renewers = [] if renewers is _EMPTY else renewers
        self.issue_timestamp = issue_timestamp
        self.max_timestamp = max_timestamp
        self.expiration_timestamp = expiration_timestamp
        self.token_id = token_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DelegationTokenRecord):
            return NotImplemented
        return (
            self.owner == other.owner
            and self.requester == other.requester
            and self.renewers == other.renewers
            and self.issue_timestamp == other.issue_timestamp
            and self.max_timestamp == other.max_timestamp
            and self.expiration_timestamp == other.expiration_timestamp
            and self.token_id == other.token_id
        )

    def __repr__(self) -> str:
        return f"DelegationTokenRecord(owner={self.owner!r}, requester={self.requester!r}, renewers={self.renewers!r}, issue_timestamp={self.issue_timestamp!r}, max_timestamp={self.max_timestamp!r}, expiration_timestamp={self.expiration_timestamp!r}, token_id={self.token_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("DelegationTokenRecord", version, "no such version")
        try:
            buf = out.buf
            data = self.owner.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.requester.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            n = len(self.renewers)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_renewers in self.renewers:
                data = i_renewers.encode()
                n = len(data)
                if n < 127:
                    buf.append(n + 1)
                else:
                    write_string_length(buf, n)
                buf += data
            buf += _pack_3q(self.issue_timestamp, self.max_timestamp, self.expiration_timestamp)
            data = self.token_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("DelegationTokenRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[DelegationTokenRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("DelegationTokenRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("DelegationTokenRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_DelegationTokenRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("DelegationTokenRecord", version, error) from error
        if pos > end:
            raise decode_failed("DelegationTokenRecord", version, "truncated")
        return message, pos


def _read_DelegationTokenRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[DelegationTokenRecord, int]:
    self = DelegationTokenRecord.__new__(DelegationTokenRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DelegationTokenRecord.owner")
    stop = pos + n
    if stop > end:
        raise length_read("DelegationTokenRecord.owner", n, end - pos)
    self.owner = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DelegationTokenRecord.requester")
    stop = pos + n
    if stop > end:
        raise length_read("DelegationTokenRecord.requester", n, end - pos)
    self.requester = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DelegationTokenRecord.renewers")
    if n > end - pos:
        raise length_read("DelegationTokenRecord.renewers", n, end - pos)
    l_renewers: list[str] = []
    for _ in range(n):
        n = buf[pos] - 1
        pos += 1
        if n > 126:
            n, pos = read_string_length_tail(n + 1, buf, pos)
            n -= 1
        if n < 0:
            raise null_read("DelegationTokenRecord.renewers")
        stop = pos + n
        if stop > end:
            raise length_read("DelegationTokenRecord.renewers", n, end - pos)
        l_renewers.append(str(buf[pos:stop], "utf-8"))
        pos = stop
    self.renewers = l_renewers
    self.issue_timestamp, self.max_timestamp, self.expiration_timestamp = _unpack_3q(buf, pos)
    pos += 24
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("DelegationTokenRecord.token_id")
    stop = pos + n
    if stop > end:
        raise length_read("DelegationTokenRecord.token_id", n, end - pos)
    self.token_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class UserScramCredentialRecord:
    """Version 0."""

    __slots__ = ("name", "mechanism", "salt", "stored_key", "server_key", "iterations")

    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    name: str
    mechanism: int
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, UserScramCredentialRecord):
            return NotImplemented
        return (
            self.name == other.name
            and self.mechanism == other.mechanism
            and self.salt == other.salt
            and self.stored_key == other.stored_key
            and self.server_key == other.server_key
            and self.iterations == other.iterations
        )

    def __repr__(self) -> str:
        return f"UserScramCredentialRecord(name={self.name!r}, mechanism={self.mechanism!r}, salt=<hidden>, stored_key=<hidden>, server_key=<hidden>, iterations={self.iterations!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("UserScramCredentialRecord", version, "no such version")
        try:
            buf = out.buf
            data = self.name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_b(self.mechanism)
            n = len(self.salt)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            buf += self.salt
            n = len(self.stored_key)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            buf += self.stored_key
            n = len(self.server_key)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            buf += self.server_key
            buf += _pack_i(self.iterations)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("UserScramCredentialRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[UserScramCredentialRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("UserScramCredentialRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("UserScramCredentialRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_UserScramCredentialRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("UserScramCredentialRecord", version, error) from error
        if pos > end:
            raise decode_failed("UserScramCredentialRecord", version, "truncated")
        return message, pos


def _read_UserScramCredentialRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[UserScramCredentialRecord, int]:
    self = UserScramCredentialRecord.__new__(UserScramCredentialRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UserScramCredentialRecord.name")
    stop = pos + n
    if stop > end:
        raise length_read("UserScramCredentialRecord.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.mechanism,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UserScramCredentialRecord.salt")
    stop = pos + n
    if stop > end:
        raise length_read("UserScramCredentialRecord.salt", n, end - pos)
    self.salt = bytes(buf[pos:stop])
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UserScramCredentialRecord.stored_key")
    stop = pos + n
    if stop > end:
        raise length_read("UserScramCredentialRecord.stored_key", n, end - pos)
    self.stored_key = bytes(buf[pos:stop])
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("UserScramCredentialRecord.server_key")
    stop = pos + n
    if stop > end:
        raise length_read("UserScramCredentialRecord.server_key", n, end - pos)
    self.server_key = bytes(buf[pos:stop])
    pos = stop
    (self.iterations,) = _unpack_i(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class FeatureLevelRecord:
    """Version 0."""

    __slots__ = ("name", "feature_level")

    RECORD_TYPE: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    name: str
    feature_level: int

    def __init__(
        self,
        *,
        name: str = "",
        feature_level: int = 0,
    ) -> None:
        self.name = name
        self.feature_level = feature_level

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureLevelRecord):
            return NotImplemented
        return (
            self.name == other.name
            and self.feature_level == other.feature_level
        )

    def __repr__(self) -> str:
        return f"FeatureLevelRecord(name={self.name!r}, feature_level={self.feature_level!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("FeatureLevelRecord", version, "no such version")
        try:
            buf = out.buf
            data = self.name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_h(self.feature_level)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("FeatureLevelRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[FeatureLevelRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("FeatureLevelRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("FeatureLevelRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_FeatureLevelRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("FeatureLevelRecord", version, error) from error
        if pos > end:
            raise decode_failed("FeatureLevelRecord", version, "truncated")
        return message, pos


def _read_FeatureLevelRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[FeatureLevelRecord, int]:
    self = FeatureLevelRecord.__new__(FeatureLevelRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("FeatureLevelRecord.name")
    stop = pos + n
    if stop > end:
        raise length_read("FeatureLevelRecord.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.feature_level,) = _unpack_h(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class EntityData:
    """Part of ClientQuotaRecord."""

    __slots__ = ("entity_type", "entity_name")

    entity_type: str
    entity_name: str | None

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EntityData):
            return NotImplemented
        return (
            self.entity_type == other.entity_type
            and self.entity_name == other.entity_name
        )

    def __repr__(self) -> str:
        return f"EntityData(entity_type={self.entity_type!r}, entity_name={self.entity_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.entity_type.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        v_entity_name = self.entity_name
        if v_entity_name is None:
            buf.append(0)
        else:
            data = v_entity_name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
        buf.append(0)


def _read_EntityData(buf: memoryview, pos: int, end: int, version: int) -> tuple[EntityData, int]:
    self = EntityData.__new__(EntityData)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("EntityData.entity_type")
    stop = pos + n
    if stop > end:
        raise length_read("EntityData.entity_type", n, end - pos)
    self.entity_type = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        self.entity_name = None
    else:
        stop = pos + n
        if stop > end:
            raise length_read("EntityData.entity_name", n, end - pos)
        self.entity_name = str(buf[pos:stop], "utf-8")
        pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ClientQuotaRecord:
    """Version 0."""

    __slots__ = ("entity", "key", "value", "remove")

    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    entity: list[EntityData]
    key: str
    value: float
    remove: bool

    def __init__(
        self,
        *,
        entity: list[EntityData] = _EMPTY,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.entity = [] if entity is _EMPTY else entity
        self.key = key
        self.value = value
        self.remove = remove

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClientQuotaRecord):
            return NotImplemented
        return (
            self.entity == other.entity
            and self.key == other.key
            and self.value == other.value
            and self.remove == other.remove
        )

    def __repr__(self) -> str:
        return f"ClientQuotaRecord(entity={self.entity!r}, key={self.key!r}, value={self.value!r}, remove={self.remove!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ClientQuotaRecord", version, "no such version")
        try:
            buf = out.buf
            n = len(self.entity)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_entity in self.entity:
                i_entity.encode(out, version)
            data = self.key.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_dz(self.value, self.remove)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ClientQuotaRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ClientQuotaRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ClientQuotaRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ClientQuotaRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ClientQuotaRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ClientQuotaRecord", version, error) from error
        if pos > end:
            raise decode_failed("ClientQuotaRecord", version, "truncated")
        return message, pos


def _read_ClientQuotaRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[ClientQuotaRecord, int]:
    self = ClientQuotaRecord.__new__(ClientQuotaRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ClientQuotaRecord.entity")
    if n * 3 > end - pos:
        raise length_read("ClientQuotaRecord.entity", n, end - pos)
    l_entity: list[EntityData] = []
    for _ in range(n):
        i_entity, pos = _read_EntityData(buf, pos, end, version)
        l_entity.append(i_entity)
    self.entity = l_entity
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ClientQuotaRecord.key")
    stop = pos + n
    if stop > end:
        raise length_read("ClientQuotaRecord.key", n, end - pos)
    self.key = str(buf[pos:stop], "utf-8")
    pos = stop
    self.value, self.remove = _unpack_dz(buf, pos)
    pos += 9
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ProducerIdsRecord:
    """Version 0."""

    __slots__ = ("broker_id", "broker_epoch", "next_producer_id")

    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int
    next_producer_id: int

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = -1,
        next_producer_id: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.next_producer_id = next_producer_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProducerIdsRecord):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
            and self.next_producer_id == other.next_producer_id
        )

    def __repr__(self) -> str:
        return f"ProducerIdsRecord(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r}, next_producer_id={self.next_producer_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ProducerIdsRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_i2q(self.broker_id, self.broker_epoch, self.next_producer_id)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ProducerIdsRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ProducerIdsRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ProducerIdsRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ProducerIdsRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ProducerIdsRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ProducerIdsRecord", version, error) from error
        if pos > end:
            raise decode_failed("ProducerIdsRecord", version, "truncated")
        return message, pos


def _read_ProducerIdsRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[ProducerIdsRecord, int]:
    self = ProducerIdsRecord.__new__(ProducerIdsRecord)
    self.broker_id, self.broker_epoch, self.next_producer_id = _unpack_i2q(buf, pos)
    pos += 20
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BrokerRegistrationChangeRecord:
    """Versions 0 to 2."""

    __slots__ = ("broker_id", "broker_epoch", "fenced", "in_controlled_shutdown", "log_dirs")

    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    broker_id: int
    broker_epoch: int
    fenced: int
    in_controlled_shutdown: int
    log_dirs: list[bytes]

    def __init__(
        self,
        *,
        broker_id: int = 0,
        broker_epoch: int = 0,
        fenced: int = 0,
        in_controlled_shutdown: int = 0,
        log_dirs: list[bytes] = _EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        self.log_dirs = [] if log_dirs is _EMPTY else log_dirs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerRegistrationChangeRecord):
            return NotImplemented
        return (
            self.broker_id == other.broker_id
            and self.broker_epoch == other.broker_epoch
            and self.fenced == other.fenced
            and self.in_controlled_shutdown == other.in_controlled_shutdown
            and self.log_dirs == other.log_dirs
        )

    def __repr__(self) -> str:
        return f"BrokerRegistrationChangeRecord(broker_id={self.broker_id!r}, broker_epoch={self.broker_epoch!r}, fenced={self.fenced!r}, in_controlled_shutdown={self.in_controlled_shutdown!r}, log_dirs={self.log_dirs!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 2:
            raise encode_failed("BrokerRegistrationChangeRecord", version, "no such version")
        try:
            if version < 1:
                if self.in_controlled_shutdown != 0:
                    raise field_unsupported("BrokerRegistrationChangeRecord.in_controlled_shutdown", version)
            if version < 2:
                if self.log_dirs:
                    raise field_unsupported("BrokerRegistrationChangeRecord.log_dirs", version)
            buf = out.buf
            buf += _pack_iq(self.broker_id, self.broker_epoch)
            count = 0
            if self.fenced != 0:
                count += 1
            if version >= 1 and (self.in_controlled_shutdown != 0):
                count += 1
            if version >= 2 and (self.log_dirs):
                count += 1
            buf.append(count)
            if count:
                if self.fenced != 0:
                    buf += b"\x00\x01"
                    buf += _pack_b(self.fenced)
                if version >= 1 and (self.in_controlled_shutdown != 0):
                    buf += b"\x01\x01"
                    buf += _pack_b(self.in_controlled_shutdown)
                if version >= 2 and (self.log_dirs):
                    sub = Encoder()
                    sub_buf = sub.buf
                    n = len(self.log_dirs)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_uvarint(sub_buf, n + 1)
                    for i_log_dirs in self.log_dirs:
                        if len(i_log_dirs) != 16:
                            raise uuid_written("BrokerRegistrationChangeRecord.log_dirs")
                        sub_buf += i_log_dirs
                    buf.append(2)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("BrokerRegistrationChangeRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BrokerRegistrationChangeRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 2:
            raise decode_failed("BrokerRegistrationChangeRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BrokerRegistrationChangeRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BrokerRegistrationChangeRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BrokerRegistrationChangeRecord", version, error) from error
        if pos > end:
            raise decode_failed("BrokerRegistrationChangeRecord", version, "truncated")
        return message, pos


def _read_BrokerRegistrationChangeRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[BrokerRegistrationChangeRecord, int]:
    self = BrokerRegistrationChangeRecord.__new__(BrokerRegistrationChangeRecord)
    self.broker_id, self.broker_epoch = _unpack_iq(buf, pos)
    pos += 12
    self.fenced = 0
    self.in_controlled_shutdown = 0
    self.log_dirs = []
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("BrokerRegistrationChangeRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("BrokerRegistrationChangeRecord tag", size, end - pos)
            if tag == 0:
                (self.fenced,) = _unpack_b(buf, pos)
                pos += 1
            elif tag == 1 and version >= 1:
                (self.in_controlled_shutdown,) = _unpack_b(buf, pos)
                pos += 1
            elif tag == 2 and version >= 2:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_uvarint_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    raise null_read("BrokerRegistrationChangeRecord.log_dirs")
                if n * 16 > end - pos:
                    raise length_read("BrokerRegistrationChangeRecord.log_dirs", n, end - pos)
                l_log_dirs: list[bytes] = []
                for _ in range(n):
                    l_log_dirs.append(bytes(buf[pos : pos + 16]))
                    pos += 16
                self.log_dirs = l_log_dirs
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"BrokerRegistrationChangeRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


class AccessControlEntryRecord:
    """Version 0."""

    __slots__ = ("id", "resource_type", "resource_name", "pattern_type", "principal", "host", "operation", "permission_type")

    RECORD_TYPE: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    id: bytes
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.id = id
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AccessControlEntryRecord):
            return NotImplemented
        return (
            self.id == other.id
            and self.resource_type == other.resource_type
            and self.resource_name == other.resource_name
            and self.pattern_type == other.pattern_type
            and self.principal == other.principal
            and self.host == other.host
            and self.operation == other.operation
            and self.permission_type == other.permission_type
        )

    def __repr__(self) -> str:
        return f"AccessControlEntryRecord(id={self.id!r}, resource_type={self.resource_type!r}, resource_name={self.resource_name!r}, pattern_type={self.pattern_type!r}, principal={self.principal!r}, host={self.host!r}, operation={self.operation!r}, permission_type={self.permission_type!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AccessControlEntryRecord", version, "no such version")
        try:
            buf = out.buf
            if len(self.id) != 16:
                raise uuid_written("AccessControlEntryRecord.id")
            buf += _pack_ub(self.id, self.resource_type)
            data = self.resource_name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_b(self.pattern_type)
            data = self.principal.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            data = self.host.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_2b(self.operation, self.permission_type)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("AccessControlEntryRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AccessControlEntryRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AccessControlEntryRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AccessControlEntryRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AccessControlEntryRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AccessControlEntryRecord", version, error) from error
        if pos > end:
            raise decode_failed("AccessControlEntryRecord", version, "truncated")
        return message, pos


def _read_AccessControlEntryRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[AccessControlEntryRecord, int]:
    self = AccessControlEntryRecord.__new__(AccessControlEntryRecord)
    self.id, self.resource_type = _unpack_ub(buf, pos)
    pos += 17
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AccessControlEntryRecord.resource_name")
    stop = pos + n
    if stop > end:
        raise length_read("AccessControlEntryRecord.resource_name", n, end - pos)
    self.resource_name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.pattern_type,) = _unpack_b(buf, pos)
    pos += 1
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AccessControlEntryRecord.principal")
    stop = pos + n
    if stop > end:
        raise length_read("AccessControlEntryRecord.principal", n, end - pos)
    self.principal = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("AccessControlEntryRecord.host")
    stop = pos + n
    if stop > end:
        raise length_read("AccessControlEntryRecord.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    self.operation, self.permission_type = _unpack_2b(buf, pos)
    pos += 2
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoveAccessControlEntryRecord:
    """Version 0."""

    __slots__ = ("id",)

    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    id: bytes

    def __init__(
        self,
        *,
        id: bytes = ZERO_UUID,
    ) -> None:
        self.id = id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoveAccessControlEntryRecord):
            return NotImplemented
        return (
            self.id == other.id
        )

    def __repr__(self) -> str:
        return f"RemoveAccessControlEntryRecord(id={self.id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoveAccessControlEntryRecord", version, "no such version")
        try:
            buf = out.buf
            if len(self.id) != 16:
                raise uuid_written("RemoveAccessControlEntryRecord.id")
            buf += _pack_u(self.id)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoveAccessControlEntryRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoveAccessControlEntryRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoveAccessControlEntryRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoveAccessControlEntryRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoveAccessControlEntryRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoveAccessControlEntryRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemoveAccessControlEntryRecord", version, "truncated")
        return message, pos


def _read_RemoveAccessControlEntryRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoveAccessControlEntryRecord, int]:
    self = RemoveAccessControlEntryRecord.__new__(RemoveAccessControlEntryRecord)
    (self.id,) = _unpack_u(buf, pos)
    pos += 16
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class NoOpRecord:
    """Version 0."""

    __slots__ = ()

    RECORD_TYPE: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    def __init__(self) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoOpRecord):
            return NotImplemented
        return True

    def __repr__(self) -> str:
        return "NoOpRecord()"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("NoOpRecord", version, "no such version")
        try:
            buf = out.buf
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("NoOpRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[NoOpRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("NoOpRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("NoOpRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_NoOpRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("NoOpRecord", version, error) from error
        if pos > end:
            raise decode_failed("NoOpRecord", version, "truncated")
        return message, pos


def _read_NoOpRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[NoOpRecord, int]:
    self = NoOpRecord.__new__(NoOpRecord)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ZkMigrationStateRecord:
    """Version 0."""

    __slots__ = ("zk_migration_state",)

    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    zk_migration_state: int

    def __init__(
        self,
        *,
        zk_migration_state: int = 0,
    ) -> None:
        self.zk_migration_state = zk_migration_state

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZkMigrationStateRecord):
            return NotImplemented
        return (
            self.zk_migration_state == other.zk_migration_state
        )

    def __repr__(self) -> str:
        return f"ZkMigrationStateRecord(zk_migration_state={self.zk_migration_state!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ZkMigrationStateRecord", version, "no such version")
        try:
            buf = out.buf
            buf += _pack_b(self.zk_migration_state)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ZkMigrationStateRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ZkMigrationStateRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ZkMigrationStateRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ZkMigrationStateRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ZkMigrationStateRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ZkMigrationStateRecord", version, error) from error
        if pos > end:
            raise decode_failed("ZkMigrationStateRecord", version, "truncated")
        return message, pos


def _read_ZkMigrationStateRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[ZkMigrationStateRecord, int]:
    self = ZkMigrationStateRecord.__new__(ZkMigrationStateRecord)
    (self.zk_migration_state,) = _unpack_b(buf, pos)
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RemoveUserScramCredentialRecord:
    """Version 0."""

    __slots__ = ("name", "mechanism")

    RECORD_TYPE: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    name: str
    mechanism: int

    def __init__(
        self,
        *,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoveUserScramCredentialRecord):
            return NotImplemented
        return (
            self.name == other.name
            and self.mechanism == other.mechanism
        )

    def __repr__(self) -> str:
        return f"RemoveUserScramCredentialRecord(name={self.name!r}, mechanism={self.mechanism!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoveUserScramCredentialRecord", version, "no such version")
        try:
            buf = out.buf
            data = self.name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf += _pack_b(self.mechanism)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoveUserScramCredentialRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoveUserScramCredentialRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoveUserScramCredentialRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoveUserScramCredentialRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoveUserScramCredentialRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoveUserScramCredentialRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemoveUserScramCredentialRecord", version, "truncated")
        return message, pos


def _read_RemoveUserScramCredentialRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoveUserScramCredentialRecord, int]:
    self = RemoveUserScramCredentialRecord.__new__(RemoveUserScramCredentialRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RemoveUserScramCredentialRecord.name")
    stop = pos + n
    if stop > end:
        raise length_read("RemoveUserScramCredentialRecord.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    (self.mechanism,) = _unpack_b(buf, pos)
    pos += 1
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class BeginTransactionRecord:
    """Version 0."""

    __slots__ = ("name",)

    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    name: str | None

    def __init__(
        self,
        *,
        name: str | None = None,
    ) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BeginTransactionRecord):
            return NotImplemented
        return (
            self.name == other.name
        )

    def __repr__(self) -> str:
        return f"BeginTransactionRecord(name={self.name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("BeginTransactionRecord", version, "no such version")
        try:
            buf = out.buf
            count = 0
            if self.name is not None:
                count += 1
            buf.append(count)
            if count:
                if self.name is not None:
                    sub = Encoder()
                    sub_buf = sub.buf
                    data = self.name.encode()
                    n = len(data)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_string_length(sub_buf, n)
                    sub_buf += data
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("BeginTransactionRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[BeginTransactionRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("BeginTransactionRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("BeginTransactionRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_BeginTransactionRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("BeginTransactionRecord", version, error) from error
        if pos > end:
            raise decode_failed("BeginTransactionRecord", version, "truncated")
        return message, pos


def _read_BeginTransactionRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[BeginTransactionRecord, int]:
    self = BeginTransactionRecord.__new__(BeginTransactionRecord)
    self.name = None
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("BeginTransactionRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("BeginTransactionRecord tag", size, end - pos)
            if tag == 0:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_string_length_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.name = None
                else:
                    stop = pos + n
                    if stop > end:
                        raise length_read("BeginTransactionRecord.name", n, end - pos)
                    self.name = str(buf[pos:stop], "utf-8")
                    pos = stop
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"BeginTransactionRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


class EndTransactionRecord:
    """Version 0."""

    __slots__ = ()

    RECORD_TYPE: ClassVar[int] = 24
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    def __init__(self) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EndTransactionRecord):
            return NotImplemented
        return True

    def __repr__(self) -> str:
        return "EndTransactionRecord()"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("EndTransactionRecord", version, "no such version")
        try:
            buf = out.buf
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("EndTransactionRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[EndTransactionRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("EndTransactionRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("EndTransactionRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_EndTransactionRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("EndTransactionRecord", version, error) from error
        if pos > end:
            raise decode_failed("EndTransactionRecord", version, "truncated")
        return message, pos


def _read_EndTransactionRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[EndTransactionRecord, int]:
    self = EndTransactionRecord.__new__(EndTransactionRecord)
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class AbortTransactionRecord:
    """Version 0."""

    __slots__ = ("reason",)

    RECORD_TYPE: ClassVar[int] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    reason: str | None

    def __init__(
        self,
        *,
        reason: str | None = None,
    ) -> None:
        self.reason = reason

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbortTransactionRecord):
            return NotImplemented
        return (
            self.reason == other.reason
        )

    def __repr__(self) -> str:
        return f"AbortTransactionRecord(reason={self.reason!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("AbortTransactionRecord", version, "no such version")
        try:
            buf = out.buf
            count = 0
            if self.reason is not None:
                count += 1
            buf.append(count)
            if count:
                if self.reason is not None:
                    sub = Encoder()
                    sub_buf = sub.buf
                    data = self.reason.encode()
                    n = len(data)
                    if n < 127:
                        sub_buf.append(n + 1)
                    else:
                        write_string_length(sub_buf, n)
                    sub_buf += data
                    buf.append(0)
                    write_uvarint(buf, len(sub_buf))
                    buf += sub_buf
        except ENCODE_FAILURES as error:
            raise encode_failed("AbortTransactionRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[AbortTransactionRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("AbortTransactionRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("AbortTransactionRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_AbortTransactionRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("AbortTransactionRecord", version, error) from error
        if pos > end:
            raise decode_failed("AbortTransactionRecord", version, "truncated")
        return message, pos


def _read_AbortTransactionRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[AbortTransactionRecord, int]:
    self = AbortTransactionRecord.__new__(AbortTransactionRecord)
    self.reason = None
    if buf[pos] == 0:
        pos += 1
    else:
        count, pos = read_uvarint(buf, pos)
        if count * 2 > end - pos:
            raise length_read("AbortTransactionRecord tags", count, end - pos)
        for _ in range(count):
            tag, pos = read_uvarint(buf, pos)
            size, pos = read_uvarint(buf, pos)
            tag_end = pos + size
            if tag_end > end:
                raise length_read("AbortTransactionRecord tag", size, end - pos)
            if tag == 0:
                n = buf[pos] - 1
                pos += 1
                if n > 126:
                    n, pos = read_string_length_tail(n + 1, buf, pos)
                    n -= 1
                if n < 0:
                    self.reason = None
                else:
                    stop = pos + n
                    if stop > end:
                        raise length_read("AbortTransactionRecord.reason", n, end - pos)
                    self.reason = str(buf[pos:stop], "utf-8")
                    pos = stop
            else:
                pos = tag_end
            if pos != tag_end:
                raise DecodeError(f"AbortTransactionRecord: tag {tag} does not fill its {size} bytes")
    return self, pos


class RemoveDelegationTokenRecord:
    """Version 0."""

    __slots__ = ("token_id",)

    RECORD_TYPE: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    token_id: str

    def __init__(
        self,
        *,
        token_id: str = "",
    ) -> None:
        self.token_id = token_id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RemoveDelegationTokenRecord):
            return NotImplemented
        return (
            self.token_id == other.token_id
        )

    def __repr__(self) -> str:
        return f"RemoveDelegationTokenRecord(token_id={self.token_id!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RemoveDelegationTokenRecord", version, "no such version")
        try:
            buf = out.buf
            data = self.token_id.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RemoveDelegationTokenRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RemoveDelegationTokenRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RemoveDelegationTokenRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RemoveDelegationTokenRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RemoveDelegationTokenRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RemoveDelegationTokenRecord", version, error) from error
        if pos > end:
            raise decode_failed("RemoveDelegationTokenRecord", version, "truncated")
        return message, pos


def _read_RemoveDelegationTokenRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RemoveDelegationTokenRecord, int]:
    self = RemoveDelegationTokenRecord.__new__(RemoveDelegationTokenRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RemoveDelegationTokenRecord.token_id")
    stop = pos + n
    if stop > end:
        raise length_read("RemoveDelegationTokenRecord.token_id", n, end - pos)
    self.token_id = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ControllerEndpoint:
    """Part of RegisterControllerRecord."""

    __slots__ = ("name", "host", "port", "security_protocol")

    name: str
    host: str
    port: int
    security_protocol: int

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ControllerEndpoint):
            return NotImplemented
        return (
            self.name == other.name
            and self.host == other.host
            and self.port == other.port
            and self.security_protocol == other.security_protocol
        )

    def __repr__(self) -> str:
        return f"ControllerEndpoint(name={self.name!r}, host={self.host!r}, port={self.port!r}, security_protocol={self.security_protocol!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        data = self.host.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_Hh(self.port, self.security_protocol)
        buf.append(0)


def _read_ControllerEndpoint(buf: memoryview, pos: int, end: int, version: int) -> tuple[ControllerEndpoint, int]:
    self = ControllerEndpoint.__new__(ControllerEndpoint)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ControllerEndpoint.name")
    stop = pos + n
    if stop > end:
        raise length_read("ControllerEndpoint.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ControllerEndpoint.host")
    stop = pos + n
    if stop > end:
        raise length_read("ControllerEndpoint.host", n, end - pos)
    self.host = str(buf[pos:stop], "utf-8")
    pos = stop
    self.port, self.security_protocol = _unpack_Hh(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ControllerFeature:
    """Part of RegisterControllerRecord."""

    __slots__ = ("name", "min_supported_version", "max_supported_version")

    name: str
    min_supported_version: int
    max_supported_version: int

    def __init__(
        self,
        *,
        name: str = "",
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ControllerFeature):
            return NotImplemented
        return (
            self.name == other.name
            and self.min_supported_version == other.min_supported_version
            and self.max_supported_version == other.max_supported_version
        )

    def __repr__(self) -> str:
        return f"ControllerFeature(name={self.name!r}, min_supported_version={self.min_supported_version!r}, max_supported_version={self.max_supported_version!r})"

    def encode(self, out: Encoder, version: int) -> None:
        buf = out.buf
        data = self.name.encode()
        n = len(data)
        if n < 127:
            buf.append(n + 1)
        else:
            write_string_length(buf, n)
        buf += data
        buf += _pack_2h(self.min_supported_version, self.max_supported_version)
        buf.append(0)


def _read_ControllerFeature(buf: memoryview, pos: int, end: int, version: int) -> tuple[ControllerFeature, int]:
    self = ControllerFeature.__new__(ControllerFeature)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ControllerFeature.name")
    stop = pos + n
    if stop > end:
        raise length_read("ControllerFeature.name", n, end - pos)
    self.name = str(buf[pos:stop], "utf-8")
    pos = stop
    self.min_supported_version, self.max_supported_version = _unpack_2h(buf, pos)
    pos += 4
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class RegisterControllerRecord:
    """Version 0."""

    __slots__ = ("controller_id", "incarnation_id", "zk_migration_ready", "end_points", "features")

    RECORD_TYPE: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    controller_id: int
    incarnation_id: bytes
    zk_migration_ready: bool
    end_points: list[ControllerEndpoint]
    features: list[ControllerFeature]

    def __init__(
        self,
        *,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        end_points: list[ControllerEndpoint] = _EMPTY,
        features: list[ControllerFeature] = _EMPTY,
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.end_points = [] if end_points is _EMPTY else end_points
        self.features = [] if features is _EMPTY else features

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RegisterControllerRecord):
            return NotImplemented
        return (
            self.controller_id == other.controller_id
            and self.incarnation_id == other.incarnation_id
            and self.zk_migration_ready == other.zk_migration_ready
            and self.end_points == other.end_points
            and self.features == other.features
        )

    def __repr__(self) -> str:
        return f"RegisterControllerRecord(controller_id={self.controller_id!r}, incarnation_id={self.incarnation_id!r}, zk_migration_ready={self.zk_migration_ready!r}, end_points={self.end_points!r}, features={self.features!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("RegisterControllerRecord", version, "no such version")
        try:
            buf = out.buf
            if len(self.incarnation_id) != 16:
                raise uuid_written("RegisterControllerRecord.incarnation_id")
            buf += _pack_iuz(self.controller_id, self.incarnation_id, self.zk_migration_ready)
            n = len(self.end_points)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_end_points in self.end_points:
                i_end_points.encode(out, version)
            n = len(self.features)
            if n < 127:
                buf.append(n + 1)
            else:
                write_uvarint(buf, n + 1)
            for i_features in self.features:
                i_features.encode(out, version)
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("RegisterControllerRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[RegisterControllerRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("RegisterControllerRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("RegisterControllerRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_RegisterControllerRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("RegisterControllerRecord", version, error) from error
        if pos > end:
            raise decode_failed("RegisterControllerRecord", version, "truncated")
        return message, pos


def _read_RegisterControllerRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[RegisterControllerRecord, int]:
    self = RegisterControllerRecord.__new__(RegisterControllerRecord)
    self.controller_id, self.incarnation_id, self.zk_migration_ready = _unpack_iuz(buf, pos)
    pos += 21
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RegisterControllerRecord.end_points")
    if n * 7 > end - pos:
        raise length_read("RegisterControllerRecord.end_points", n, end - pos)
    l_end_points: list[ControllerEndpoint] = []
    for _ in range(n):
        i_end_points, pos = _read_ControllerEndpoint(buf, pos, end, version)
        l_end_points.append(i_end_points)
    self.end_points = l_end_points
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_uvarint_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("RegisterControllerRecord.features")
    if n * 6 > end - pos:
        raise length_read("RegisterControllerRecord.features", n, end - pos)
    l_features: list[ControllerFeature] = []
    for _ in range(n):
        i_features, pos = _read_ControllerFeature(buf, pos, end, version)
        l_features.append(i_features)
    self.features = l_features
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


class ClearElrRecord:
    """Version 0."""

    __slots__ = ("topic_name",)

    RECORD_TYPE: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 0

    topic_name: str

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClearElrRecord):
            return NotImplemented
        return (
            self.topic_name == other.topic_name
        )

    def __repr__(self) -> str:
        return f"ClearElrRecord(topic_name={self.topic_name!r})"

    def encode(self, out: Encoder, version: int) -> None:
        """Append this message to `out`; raises EncodeError."""
        if version < 0 or version > 0:
            raise encode_failed("ClearElrRecord", version, "no such version")
        try:
            buf = out.buf
            data = self.topic_name.encode()
            n = len(data)
            if n < 127:
                buf.append(n + 1)
            else:
                write_string_length(buf, n)
            buf += data
            buf.append(0)
        except ENCODE_FAILURES as error:
            raise encode_failed("ClearElrRecord", version, error) from error

    @staticmethod
    def decode(buf: Buffer, pos: int, end: int, version: int) -> tuple[ClearElrRecord, int]:
        """The message in buf[pos:end] and the position after it; raises DecodeError."""
        if version < 0 or version > 0:
            raise decode_failed("ClearElrRecord", version, "no such version")
        if pos < 0 or end > len(buf):
            raise decode_failed("ClearElrRecord", version, "the range lies outside the buffer")
        view = buf if isinstance(buf, memoryview) else memoryview(buf)
        try:
            message, pos = _read_ClearElrRecord(view, pos, end, version)
        except DECODE_FAILURES as error:
            raise decode_failed("ClearElrRecord", version, error) from error
        if pos > end:
            raise decode_failed("ClearElrRecord", version, "truncated")
        return message, pos


def _read_ClearElrRecord(buf: memoryview, pos: int, end: int, version: int) -> tuple[ClearElrRecord, int]:
    self = ClearElrRecord.__new__(ClearElrRecord)
    n = buf[pos] - 1
    pos += 1
    if n > 126:
        n, pos = read_string_length_tail(n + 1, buf, pos)
        n -= 1
    if n < 0:
        raise null_read("ClearElrRecord.topic_name")
    stop = pos + n
    if stop > end:
        raise length_read("ClearElrRecord.topic_name", n, end - pos)
    self.topic_name = str(buf[pos:stop], "utf-8")
    pos = stop
    if buf[pos] == 0:
        pos += 1
    else:
        pos = skip_tagged_fields(buf, pos, end)
    return self, pos


RECORD_TYPES: Final[dict[int, type[Any]]] = {
    0: RegisterBrokerRecord,
    1: UnregisterBrokerRecord,
    2: TopicRecord,
    3: PartitionRecord,
    4: ConfigRecord,
    5: PartitionChangeRecord,
    7: FenceBrokerRecord,
    8: UnfenceBrokerRecord,
    9: RemoveTopicRecord,
    10: DelegationTokenRecord,
    11: UserScramCredentialRecord,
    12: FeatureLevelRecord,
    14: ClientQuotaRecord,
    15: ProducerIdsRecord,
    17: BrokerRegistrationChangeRecord,
    18: AccessControlEntryRecord,
    19: RemoveAccessControlEntryRecord,
    20: NoOpRecord,
    21: ZkMigrationStateRecord,
    22: RemoveUserScramCredentialRecord,
    23: BeginTransactionRecord,
    24: EndTransactionRecord,
    25: AbortTransactionRecord,
    26: RemoveDelegationTokenRecord,
    27: RegisterControllerRecord,
    28: ClearElrRecord,
}
