"""Heartbeats: who is alive, who wants to be unfenced, fenced or shut down, and what the answer is.

`Heartbeats` is what the active controller knows and no record says: when each broker was last heard of, how
far it has read the metadata log, and up to where the others have to read before it may stop. A controller
that becomes active begins with new ones, whose sessions run from when the one before was last heard of.

A broker is fenced until it has read its own registration. A broker that wants to stop first gives up its
leaderships (a record says that it is stopping); it may stop when nobody believes any more that it leads: when
all active brokers have read the records that moved its leaderships.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.metadata.brokers import (
    begin_controlled_shutdown,
    directories_offline,
    fence_broker,
    known_broker,
    leads_anything,
    unfence_broker,
)
from ottla.metadata.config import ConfigView
from ottla.metadata.decision import Decision
from ottla.metadata.image import BrokerImage, ImageBuilder, MetadataImage
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import KafkaError
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse

NOTHING_READ = -1


class Contact:
    """What one broker, under one epoch, has told this controller."""

    __slots__ = ("epoch", "last_ms", "metadata_offset", "shutdown_offset")

    def __init__(self, epoch: int, last_ms: float) -> None:
        self.epoch = epoch
        self.last_ms = last_ms
        self.metadata_offset = NOTHING_READ
        self.shutdown_offset = NOTHING_READ
        """Of a broker that is stopping: the last offset that moved one of its leaderships."""


class Heartbeats:
    """By broker id. Whether a broker is fenced or stopping is in the image and only there."""

    __slots__ = ("_contacts",)

    def __init__(self) -> None:
        self._contacts: dict[int, Contact] = {}

    @classmethod
    def at_activation(cls, image: MetadataImage, since_ms: float) -> Heartbeats:
        made = cls()
        for broker in image.brokers.values():
            contact = made.contact(broker, since_ms)
            if broker.in_controlled_shutdown:
                # Which record moved the last leadership is not known: all that there is does for it.
                contact.shutdown_offset = image.last_offset
        return made

    def contact(self, broker: BrokerImage, now_ms: float) -> Contact:
        """What is known of the broker; one that was not seen before is heard of now."""
        contact = self._contacts.get(broker.node_id)
        if contact is None or contact.epoch != broker.epoch:
            contact = self._contacts[broker.node_id] = Contact(broker.epoch, now_ms)
        return contact

    def registered(self, node_id: int, epoch: int, now_ms: float) -> None:
        self._contacts[node_id] = Contact(epoch, now_ms)

    def has_session(self, broker: BrokerImage, now_ms: float, timeout_ms: float) -> bool:
        return now_ms < self.contact(broker, now_ms).last_ms + timeout_ms

    def silent(self, image: MetadataImage, now_ms: float, timeout_ms: float) -> list[int]:
        """The brokers to fence."""
        return [
            broker.node_id
            for broker in image.brokers.values()
            if not broker.fenced and not self.has_session(broker, now_ms, timeout_ms)
        ]

    def next_expiry_ms(self, image: MetadataImage, timeout_ms: float) -> float | None:
        """When the first session ends. A broker that was never heard of has none."""
        contacts = [
            contact
            for node_id, contact in self._contacts.items()
            if (broker := image.brokers.get(node_id)) is not None
            and broker.epoch == contact.epoch
            and not broker.fenced
        ]
        return min((each.last_ms + timeout_ms for each in contacts), default=None)

    def lowest_active_offset(self, image: MetadataImage) -> float:
        """Up to where every active broker has read the metadata log, as far as they have said."""
        offsets = []
        for broker in image.brokers.values():
            if broker.active:
                contact = self._contacts.get(broker.node_id)
                known = contact is not None and contact.epoch == broker.epoch
                offsets.append(contact.metadata_offset if known and contact is not None else NOTHING_READ)
        return min(offsets, default=float("inf"))


class _Next(NamedTuple):
    """Where a heartbeat leads to."""

    records: list[MetadataRecord]
    fenced: bool
    stop: bool = False
    moves_leaderships: bool = False


def broker_heartbeat(
    view: ConfigView,
    heartbeats: Heartbeats,
    request: BrokerHeartbeatRequest,
    now_ms: float,
    next_offset: int,
) -> Decision[BrokerHeartbeatResponse]:
    """`next_offset` is the offset that the first record will have."""
    try:
        broker = known_broker(view.image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return Decision(BrokerHeartbeatResponse(error_code=error.code), [])
    contact = heartbeats.contact(broker, now_ms)
    contact.last_ms = now_ms
    contact.metadata_offset = request.current_metadata_offset
    records: list[MetadataRecord] = []
    if request.offline_log_dirs:
        records = directories_offline(
            view, broker.node_id, [bytes(each) for each in request.offline_log_dirs]
        )
        if records:
            view = view.after(ImageBuilder(view.image).replay_all(records).build()[0])
            broker = view.image.brokers[broker.node_id]
    following = _next_state(view, heartbeats, broker, request)
    records += following.records
    if following.moves_leaderships:
        contact.shutdown_offset = next_offset + len(records) - 1
    response = BrokerHeartbeatResponse(
        error_code=0,
        is_caught_up=request.current_metadata_offset >= broker.epoch,
        is_fenced=following.fenced,
        should_shut_down=following.stop,
    )
    return Decision(response, records)


def _next_state(
    view: ConfigView, heartbeats: Heartbeats, broker: BrokerImage, request: BrokerHeartbeatRequest
) -> _Next:
    node_id = broker.node_id
    if broker.fenced:
        if request.want_shut_down:
            return _Next([], fenced=True, stop=True)
        # Its epoch is the offset of its registration.
        if request.want_fence or request.current_metadata_offset < broker.epoch:
            return _Next([], fenced=True)
        return _Next(unfence_broker(view, node_id), fenced=False)
    if broker.in_controlled_shutdown:
        if leads_anything(view.image, node_id):
            moves = begin_controlled_shutdown(view, node_id)
            return _Next(moves, fenced=False, moves_leaderships=bool(moves))
        contact = heartbeats.contact(broker, 0)
        if contact.shutdown_offset > heartbeats.lowest_active_offset(view.image):
            return _Next([], fenced=False)
        return _Next(fence_broker(view, node_id), fenced=True, stop=True)
    if request.want_fence:
        return _Next(fence_broker(view, node_id), fenced=True, stop=request.want_shut_down)
    if request.want_shut_down:
        if leads_anything(view.image, node_id):
            moves = begin_controlled_shutdown(view, node_id)
            return _Next(moves, fenced=False, moves_leaderships=bool(moves))
        return _Next(fence_broker(view, node_id), fenced=True, stop=True)
    return _Next([], fenced=False)
