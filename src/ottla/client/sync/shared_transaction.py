"""A transaction over several processes, for threads: its owner (`TransactionOwner`), and a producer that
writes into it from elsewhere (`BorrowingProducer`).

    with TransactionOwner("orders-pipeline", "localhost:9092") as owner:
        handle = owner.init()
        owner.add_partitions(handle, [TopicPartition("orders", 0)])
        ...                     # in other processes, with the handle:
                                #   with BorrowingProducer(handle, "localhost:9092") as producer:
                                #       producer.send("orders", b"...", partition=0); producer.flush()
        owner.send_offsets(handle, offsets, "orders-pipeline")
        owner.commit(handle)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from ottla.client.config import producer_settings
from ottla.client.effects import ClientSteps
from ottla.client.errors import UnknownTopicOrPartition
from ottla.client.producing.core import ProducerCore
from ottla.client.producing.front import offsets_of
from ottla.client.producing.future import RecordFuture
from ottla.client.producing.shared_transaction import SharedTransaction, TransactionHandle
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.client.session import Session
from ottla.client.sync.producer import Producer
from ottla.client.view import ClusterView
from ottla.model.types import TopicPartition

CREATE_MS = 5_000
"""How long a topic that the brokers create may take to be there."""


class TransactionOwner:
    """Owns a transactional id, and the transactions that others write into.

    Settings are a producer's: `transaction.timeout.ms`, and `max.block.ms`, which bounds every call
    (OperationTimedOut). ProducerFenced: another owner has the id. TransactionFailed: abort.
    """

    def __init__(
        self,
        transactional_id: str,
        bootstrap_servers: str | list[str] | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if bootstrap_servers is not None:
            settings["bootstrap_servers"] = bootstrap_servers
        self._settings = producer_settings(config, {**settings, "transactional_id": transactional_id})
        self._session = Session.threaded(self._settings)
        self._core = SharedTransaction(
            self._session,
            transactional_id,
            transaction_timeout_ms=self._settings.transaction_timeout_ms,
            timeout_ms=self._settings.max_block_ms,
        )

    @property
    def transaction_timeout_ms(self) -> int:
        return self._settings.transaction_timeout_ms

    def init(self, earlier: TransactionHandle | None = None) -> TransactionHandle:
        """An identity with a new epoch. Takes the id over, and aborts what was left open; with the `earlier`
        identity of this owner it goes on only if nobody else has taken the id over meanwhile.
        """
        return self._run(self._core.init(earlier))  # type: ignore[no-any-return]

    def add_partitions(self, handle: TransactionHandle, partitions: Iterable[TopicPartition]) -> None:
        """Before anybody writes to them."""
        self._run(self._core.add_partitions(handle, partitions))

    def send_offsets(
        self,
        handle: TransactionHandle,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata | str,
    ) -> None:
        """Makes a group's progress a part of the transaction."""
        self._run(self._core.send_offsets(handle, offsets_of(offsets), group))

    def commit(self, handle: TransactionHandle) -> None:
        """TransactionFailed: it is not committed and has to be aborted. After any other error nobody knows:
        what `committed` says after the next `init` decides.
        """
        self._run(self._core.end(handle, committed=True))

    def abort(self, handle: TransactionHandle) -> None:
        self._run(self._core.end(handle, committed=False))

    def committed(self, group: str, *, stable: bool = True) -> dict[TopicPartition, OffsetAndMetadata]:
        """What the group has committed; `stable`: once no transaction with offsets of it is under way."""
        return self._run(self._core.committed(group, stable=stable))  # type: ignore[no-any-return]

    def partition_counts(self, topics: Iterable[str], *, create_missing: bool = False) -> dict[str, int]:
        """How many partitions each of the topics has that exist and can be used. `create_missing`: lets the
        brokers create those that do not, where they do that (`auto.create.topics.enable`).
        """

        wanted = list(topics)

        def usable(view: ClusterView) -> dict[str, int]:
            return {
                name: len(found.partitions)
                for name in wanted
                if (found := view.topics.get(name)) is not None and not found.error and found.partitions
            }

        def ask() -> ClientSteps[dict[str, int]]:
            cluster = self._session.cluster
            found = usable((yield from cluster.retrying(lambda: cluster.refresh(wanted))))
            missing = [name for name in wanted if name not in found]
            if missing and create_missing:
                with suppress(UnknownTopicOrPartition):  # brokers that do not create topics say so
                    yield from cluster.discover(
                        missing,
                        create_missing=True,
                        timeout_ms=CREATE_MS,
                        worth=lambda error: error.retriable,
                    )
                found = usable(cluster.view)
            return found

        return self._run(ask())  # type: ignore[no-any-return]

    def close(self) -> None:
        """Closes the connections; a transaction that is open stays open until the next `init`, or until
        `transaction.timeout.ms` ends it.
        """
        self._session.close()

    def __enter__(self) -> TransactionOwner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, steps: ClientSteps[Any]) -> Any:
        return self._session.runtime.run(steps)


class BorrowingProducer(Producer):
    """A producer that writes into a transaction which another process owns.

    Only one of them may write to a partition in a transaction. It cannot begin or end anything; after its
    first error nothing is sent any more (ProducerFailed), and the owner has to abort.
    """

    def __init__(
        self,
        handle: TransactionHandle,
        bootstrap_servers: str | list[str] | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self._handle = handle
        super().__init__(
            bootstrap_servers, config=config, **{**settings, "transactional_id": handle.transactional_id}
        )

    def _make_core(self) -> ProducerCore:
        return ProducerCore(
            self._session,
            self._settings,
            delivery_type=RecordFuture,
            owner=self._runtime,
            borrowed=self._handle,
        )
