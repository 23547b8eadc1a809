"""Decisions about who is there: BrokerRegistration, UnregisterBroker, ControllerRegistration.

A broker's id belongs to one process at a time. Each start of a broker is an incarnation; while the one that
is registered is heard of, another with its id is refused. One that starts again after a crash is let in when
the session of its earlier life has run out. The answer carries the broker's epoch: the offset that its
registration has in the metadata log, higher with each life, so that what a dead one sent last is told apart.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.metadata.brokers import (
    check_features,
    earlier_life_ended,
    registration_record,
    unregister_broker,
)
from ottla.metadata.config import ConfigView
from ottla.metadata.decision import Decision
from ottla.metadata.heartbeats import Heartbeats
from ottla.metadata.image import BrokerImage, Endpoint, MetadataImage
from ottla.metadata.records import MetadataRecord
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.uuids import RESERVED_IDS, uuid_to_text
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from ottla.wire.messages.cluster_metadata import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from ottla.wire.messages.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

_FIRST_VERSION_WITH_DIRECTORIES = 2


def broker_registration(
    view: ConfigView,
    heartbeats: Heartbeats,
    request: BrokerRegistrationRequest,
    version: int,
    now_ms: float,
    *,
    cluster_id: str,
    next_offset: int,
) -> Decision[BrokerRegistrationResponse]:
    """`next_offset` is the offset that the first record will have. An empty `cluster_id` is not compared."""
    try:
        return _register(view, heartbeats, request, version, now_ms, cluster_id, next_offset)
    except KafkaError as error:
        return Decision(BrokerRegistrationResponse(error_code=error.code), [])


def _register(
    view: ConfigView,
    heartbeats: Heartbeats,
    request: BrokerRegistrationRequest,
    version: int,
    now_ms: float,
    cluster_id: str,
    next_offset: int,
) -> Decision[BrokerRegistrationResponse]:
    image = view.image
    node_id = request.broker_id
    if cluster_id and request.cluster_id != cluster_id:
        raise KafkaError(
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            f"Expected cluster id {cluster_id}, but broker {node_id} belongs to {request.cluster_id}.",
        )
    if request.is_migrating_zk_broker:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, "Brokers that use ZooKeeper cannot register.")
    features = {
        each.name: (each.min_supported_version, each.max_supported_version) for each in request.features
    }
    check_features(image, f"Broker {node_id}", features)
    log_dirs = tuple(bytes(each) for each in request.log_dirs)
    if version >= _FIRST_VERSION_WITH_DIRECTORIES:
        _check_directories(image, node_id, log_dirs)
    if not request.listeners:
        raise KafkaError(ErrorCode.INVALID_REGISTRATION, f"Broker {node_id} has no listener.")
    endpoints = [
        Endpoint(each.name, each.host, each.port, each.security_protocol) for each in request.listeners
    ]
    known = image.brokers.get(node_id)
    incarnation_id = bytes(request.incarnation_id)
    again = known is not None and known.incarnation_id == incarnation_id
    if known is not None and not again:
        _check_not_taken(view, heartbeats, known, now_ms)
    epoch = known.epoch if known is not None and again else next_offset
    record = registration_record(
        node_id=node_id,
        broker_epoch=epoch,
        incarnation_id=incarnation_id,
        endpoints=endpoints,
        features=features,
        rack=request.rack,
        log_dirs=log_dirs,
        fenced=known.fenced if known is not None and again else True,
        in_controlled_shutdown=known.in_controlled_shutdown if known is not None and again else False,
    )
    records: list[MetadataRecord] = [record]
    if known is not None and again:
        # The answer was lost, or it has something new to say of itself; its life goes on.
        heartbeats.contact(known, now_ms).last_ms = now_ms
        if _says_the_same(known, endpoints, features, request.rack, log_dirs):
            records = []
    else:
        heartbeats.registered(node_id, epoch, now_ms)
        if known is not None:
            clean = request.previous_broker_epoch == known.epoch
            records += earlier_life_ended(view, node_id, clean=clean)
    return Decision(BrokerRegistrationResponse(error_code=0, broker_epoch=epoch), records)


def _check_not_taken(view: ConfigView, heartbeats: Heartbeats, known: BrokerImage, now_ms: float) -> None:
    """Fenced brokers and those that were stopping when last heard of make room at once."""
    if known.active and heartbeats.has_session(known, now_ms, view.get_int("broker.session.timeout.ms")):
        raise KafkaError(
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            f"Another broker is registered with id {known.node_id}: give this one an id of its own, or wait"
            " until the session of the earlier one has run out.",
        )


def _check_directories(image: MetadataImage, node_id: int, log_dirs: tuple[bytes, ...]) -> None:
    problem: str | None = None
    if not log_dirs:
        problem = "it names no log directory"
    elif len(set(log_dirs)) != len(log_dirs):
        problem = "it names a log directory twice"
    for directory in log_dirs:
        if int.from_bytes(directory, "big") < RESERVED_IDS:
            problem = f"the directory id {uuid_to_text(directory)} is reserved"
    for broker in image.brokers.values():
        if broker.node_id != node_id and not set(broker.log_dirs).isdisjoint(log_dirs):
            problem = f"it has a log directory of broker {broker.node_id}: directories must not be copied"
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_REGISTRATION, f"Broker {node_id} cannot register: {problem}.")


def _says_the_same(
    known: BrokerImage,
    endpoints: list[Endpoint],
    features: Mapping[str, tuple[int, int]],
    rack: str | None,
    log_dirs: tuple[bytes, ...],
) -> bool:
    return (list(known.listeners.values()), dict(known.features), known.rack, set(known.log_dirs)) == (
        endpoints,
        dict(features),
        rack,
        set(log_dirs),
    )


def unregister(view: ConfigView, request: UnregisterBrokerRequest) -> Decision[UnregisterBrokerResponse]:
    """Forgets a broker that will not come back. Its replicas stay listed until they are reassigned."""
    try:
        records = unregister_broker(view, request.broker_id)
    except KafkaError as error:
        return Decision(UnregisterBrokerResponse(error_code=error.code, error_message=error.message), [])
    return Decision(UnregisterBrokerResponse(error_code=0, error_message=None), records)


def controller_registration(
    image: MetadataImage, request: ControllerRegistrationRequest
) -> Decision[ControllerRegistrationResponse]:
    """What a controller can do and where it listens, so that features are raised only when all support them.

    A controller that says the same again is not recorded again.
    """
    features = {
        each.name: (each.min_supported_version, each.max_supported_version) for each in request.features
    }
    try:
        check_features(image, f"Controller {request.controller_id}", features)
    except KafkaError as error:
        return Decision(
            ControllerRegistrationResponse(error_code=error.code, error_message=error.message), []
        )
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=bytes(request.incarnation_id),
        zk_migration_ready=request.zk_migration_ready,
        end_points=[
            ControllerEndpoint(
                name=each.name, host=each.host, port=each.port, security_protocol=each.security_protocol
            )
            for each in request.listeners
        ],
        features=[
            ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in sorted(features.items())
        ],
    )
    records: list[MetadataRecord] = []
    if image.controllers.get(request.controller_id) != record:
        records.append(record)
    return Decision(ControllerRegistrationResponse(error_code=0, error_message=None), records)
