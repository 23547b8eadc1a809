"""One replica in a test's hands: what is said to it, and what it wants."""

from __future__ import annotations

from random import Random
from typing import Any, TypeVar

from ottla.ports.peers import Address
from ottla.raft.election_state import ElectionState
from ottla.raft.log_port import ControlRecord, OffsetAndEpoch
from ottla.raft.messages import FetchRequest, Request, Response, VoteRequest, VoteResponse
from ottla.raft.outbox import Send
from ottla.raft.raft import Raft, Ready
from ottla.raft.settings import RaftSettings
from ottla.raft.voters import NO_DIRECTORY, Endpoint, ReplicaKey, VoterNode, VoterSet
from ottla.testing.raft_log import Entry, SimElectionStore, SimRaftLog, SnapshotState

R = TypeVar("R")
SETTINGS = RaftSettings()


def directory(node_id: int) -> bytes:
    return bytes([node_id]) * 16


def voter(node_id: int, *, dynamic: bool = False) -> VoterNode:
    key = ReplicaKey(node_id, directory(node_id) if dynamic else NO_DIRECTORY)
    return VoterNode(key, (Endpoint("CONTROLLER", f"n{node_id}", 9093),))


def address(node_id: int) -> Address:
    return Address(f"n{node_id}", 9093)


class RaftBench:
    """Node 1 of a quorum. `log` are the epochs of the records that it finds at its start."""

    def __init__(
        self,
        voters: int = 3,
        *,
        own: int = 1,
        log: tuple[int, ...] = (),
        stored: ElectionState | None = None,
        dynamic: bool = False,
        start: bool = True,
    ) -> None:
        self.now_ms = 1000.0
        self.log = SimRaftLog()
        self.store = SimElectionStore()
        self.store.state = stored
        for epoch in log:
            self.log.append(f"record {self.log.end_offset}", epoch)
        self.log.end_sync(self.log.begin_sync())
        names = VoterSet(voter(each, dynamic=dynamic) for each in range(1, voters + 1))
        if dynamic:
            self.log.take_snapshot(OffsetAndEpoch(0, 0), SnapshotState((), names, 1), keep_entries=1)
        self.raft = Raft(
            ReplicaKey(own, directory(own)),
            self.log,
            self.store,
            Random(1),
            settings=SETTINGS,
            static_voters=VoterSet() if dynamic else names,
            endpoints=voter(own).endpoints,
            bootstrap=tuple(address(each) for each in range(1, voters + 1)),
        )
        self.sends: list[Send] = []
        if start:
            self.raft.start(self.now_ms)
            self._take()

    @property
    def role(self) -> str:
        return self.raft.state.role_name

    def _take(self) -> Ready:
        ready = self.raft.take_ready()
        self.sends += ready.sends
        return ready

    def ask(self, request: Request, token: Any = "token") -> list[Response]:
        """The answers that it gives at once, to this or to a request that waited."""
        self.raft.handle(token, request, self.now_ms)
        return [reply.response for reply in self._take().replies]

    def answer(self, send: Send, response: Response) -> list[Response]:
        self.sends.remove(send)
        self.raft.response(send.number, response, self.now_ms)
        return [reply.response for reply in self._take().replies]

    def wait(self, duration_ms: float) -> list[Response]:
        """Time passes, and every deadline in it is kept."""
        end_ms = self.now_ms + duration_ms
        answers: list[Response] = []
        while (at_ms := self.raft.next_deadline_ms()) <= end_ms:
            assert at_ms >= self.now_ms, "a deadline in the past"
            self.now_ms = at_ms
            self.raft.tick(at_ms)
            answers += [reply.response for reply in self._take().replies]
        self.now_ms = end_ms
        return answers

    def sync(self) -> list[Response]:
        self.log.end_sync(self.log.begin_sync())
        self.raft.synced(self.now_ms)
        return [reply.response for reply in self._take().replies]

    def sent(self, kind: type[R]) -> list[tuple[Send, R]]:
        """What it has sent, of one kind, and nobody has answered."""
        return [(send, send.request) for send in self.sends if isinstance(send.request, kind)]

    def stand(self) -> None:
        """Waits until it asks for a vote, in a new epoch; the others say before that they would give it."""
        for _ in range(20):
            for send, request in self.sent(VoteRequest):
                if request.pre_vote and send in self.sends:
                    self.answer(send, VoteResponse(0, request.epoch, -1, True))  # type: ignore[arg-type]
            if self.role == "Candidate":
                self.sends = [each for each in self.sends if not getattr(each.request, "pre_vote", False)]
                return
            self.sends.clear()
            self.wait(300)
        raise AssertionError("it does not stand")

    def lead(self) -> None:
        """Becomes the leader, with the votes of all."""
        self.stand()
        for send, request in self.sent(VoteRequest):
            if send in self.sends:
                self.answer(send, VoteResponse(0, request.epoch, -1, True))  # type: ignore[arg-type]
            if self.role == "Leader":
                break
        assert self.role == "Leader"
        self.sends.clear()

    def fetch_from(self, node_id: int, offset: int, last_epoch: int, **options: Any) -> list[Response]:
        key = ReplicaKey(node_id, directory(node_id))
        request = FetchRequest(key, self.raft.epoch, offset, last_epoch, **options)
        return self.ask(request, token=f"fetch of {node_id}")


def entry(offset: int, epoch: int, control: ControlRecord | None = None) -> Entry:
    return Entry(offset, epoch, f"record {offset}", control)
