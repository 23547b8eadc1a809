"""The members' process: groups of light clients, moved by lines of JSON on its input, answering likewise.

    python -m groups.members ADDRESS TOPIC PROTOCOL GROUPS MEMBERS PREFIX

    {"do": "form"}    all members join at once; answered when all groups are stable
    {"do": "rest", "seconds": 3}    nothing but heartbeats and commits
    {"do": "round", "change": 1, "window_s": 4, "at_once": false}    every group gets a member (or, -1, loses
                      one) at the same moment; answered when all are stable again and the window is over
    {"do": "confirm"}    what the coordinator itself says about all groups
    {"do": "end"}     all members leave

In a round the others learn by their next heartbeat that there is something to do; `at_once` has all of them
send one a quarter of a second later. The input's end closes the connections. New members connect before a
round, so that it begins with their joins.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections import Counter
from typing import Any

from groups.classic_member import ClassicMember
from groups.connection import Connection, Prepared
from groups.consumer_member import ConsumerMember
from groups.figures import Figures
from groups.membership import Group, Member, Setting, asked
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from ottla.wire.messages.describe_groups import DescribeGroupsRequest
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

METADATA_VERSION, DESCRIBE_GROUPS_VERSION, CONSUMER_GROUP_DESCRIBE_VERSION = 12, 5, 1
CONNECTING_AT_ONCE = 50
DEADLINE_S = 60.0
POLL_S = 0.01
ASK_AFTER_S = (0.25, 0.75)
"""Twice: in the consumer protocol the first makes members give partitions up, the second hands them out."""
NEEDED = {
    "classic": {8: "OffsetCommit", 9: "OffsetFetch", 10: "FindCoordinator", 11: "JoinGroup", 12: "Heartbeat"}
    | {13: "LeaveGroup", 14: "SyncGroup"},
    "consumer": {8: "OffsetCommit", 9: "OffsetFetch", 10: "FindCoordinator", 68: "ConsumerGroupHeartbeat"},
}

Answer = dict[str, Any]


class Storm:
    def __init__(self, setting: Setting, control: Connection, protocol: str) -> None:
        self.setting = setting
        self.groups: list[Group] = []
        self._control = control
        self._protocol = protocol

    async def populate(self, prefix: str, groups: int, members: int) -> None:
        self.groups = [Group(f"{prefix}-{number:04d}", self.setting) for number in range(groups)]
        for _ in range(members):
            for group, member in zip(self.groups, await self._connected(), strict=True):
                group.members.append(member)

    async def _connected(self) -> list[Member]:
        """A connected member for each group, which does not take part yet."""
        gate = asyncio.Semaphore(CONNECTING_AT_ONCE)

        async def one(group: Group) -> Member:
            member = ClassicMember(group) if self._protocol == "classic" else ConsumerMember(group)
            async with gate:
                await member.connect()
            return member

        return await asyncio.gather(*(one(group) for group in self.groups))

    async def form(self) -> Answer:
        began_at = time.monotonic()
        # One member of each group after the other, as processes come up, not group by group.
        for members in zip(*(group.members for group in self.groups), strict=True):
            for member in members:
                member.join()
        return await self._settled(began_at, time.monotonic(), 0.0)

    async def round(self, change: int, window_s: float, at_once: bool) -> Answer:
        for group in self.groups:
            group.expect_change()
        new = await self._connected() if change > 0 else []
        self.setting.figures.take()
        began_at = time.monotonic()
        for group, member in zip(self.groups, new, strict=False):
            group.members.append(member)
            member.join()
        if change < 0:
            for group in self.groups:
                group.members.pop(0).leave()
        last_join_at = time.monotonic()
        if at_once:
            for after_s in ASK_AFTER_S:
                self.setting.loop.call_later(after_s, self._heartbeat_all)
            window_s = max(window_s, 2 * ASK_AFTER_S[-1] - ASK_AFTER_S[0])
        return await self._settled(began_at, last_join_at, window_s)

    def _heartbeat_all(self) -> None:
        for group in self.groups:
            for member in group.members:
                member.heartbeat_now()

    async def _settled(self, began_at: float, last_join_at: float, window_s: float) -> Answer:
        deadline = began_at + DEADLINE_S
        while time.monotonic() < deadline:
            await asyncio.sleep(POLL_S)
            if time.monotonic() >= began_at + window_s and all(
                group.stable_at is not None for group in self.groups
            ):
                break
        stable_at = [group.stable_at for group in self.groups if group.stable_at is not None]
        return {
            "began_at": began_at,
            "last_join_at": last_join_at,
            "stable_at": stable_at,
            "not_stable": len(self.groups) - len(stable_at),
            **self.setting.figures.take(),
        }

    async def rest(self, seconds: float) -> Answer:
        self.setting.figures.take()
        await asyncio.sleep(seconds)
        return self.setting.figures.take()

    async def confirm(self) -> Answer:
        """How many groups the coordinator calls stable, with as many members as they have."""
        ids = [group.group_id for group in self.groups]
        if self._protocol == "classic":
            request = Prepared("describe", DescribeGroupsRequest(groups=ids), DESCRIBE_GROUPS_VERSION)
        else:
            described = ConsumerGroupDescribeRequest(group_ids=ids)
            request = Prepared("describe", described, CONSUMER_GROUP_DESCRIBE_VERSION)
        answer = await asked(self.setting.loop, self._control, request)
        members = {group.group_id: len(group.members) for group in self.groups}
        states = Counter(each.group_state for each in answer.groups)
        confirmed = sum(
            each.group_state == "Stable" and len(each.members) == members[each.group_id]
            for each in answer.groups
        )
        return {"confirmed": confirmed, "states": dict(states)}

    async def end(self) -> Answer:
        """Leaves no member behind whose session would run out during somebody else's measurement."""
        members = [member for group in self.groups for member in group.members]
        for member in members:
            member.leave()
        deadline = time.monotonic() + DEADLINE_S
        while len(self.setting.figures.took_ms["leave"]) < len(members) and time.monotonic() < deadline:
            await asyncio.sleep(POLL_S)
        return {"left": len(members)}

    def close(self) -> None:
        for group in self.groups:
            for member in group.members:
                member.close()


async def serve(address: str, topic: str, protocol: str, groups: int, members: int, prefix: str) -> None:
    loop = asyncio.get_running_loop()
    figures = Figures()
    figures.watch_lag(loop)
    host, port = address.rsplit(":", 1)
    _, control = await loop.create_connection(lambda: Connection(figures, lambda: None), host, int(port))
    asking = Prepared(
        "api_versions",
        ApiVersionsRequest(client_software_name="groups-bench", client_software_version="1"),
        3,
    )
    versions = {each.api_key: each.max_version for each in (await asked(loop, control, asking)).api_keys}
    missing = [name for key, name in NEEDED[protocol].items() if key not in versions]
    if missing:
        print(json.dumps({"missing": missing}), flush=True)
        return
    metadata = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    (found,) = (await asked(loop, control, Prepared("metadata", metadata, METADATA_VERSION))).topics
    setting = Setting(address, topic, found.topic_id, len(found.partitions), figures, loop, versions)
    storm = Storm(setting, control, protocol)
    await storm.populate(prefix, groups, members)
    gc.collect()
    gc.freeze()
    print(json.dumps({"ready": True}), flush=True)
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    actions = {
        action.__name__: action for action in (storm.form, storm.round, storm.rest, storm.confirm, storm.end)
    }
    while line := await lines.readline():
        order = json.loads(line)
        action: Any = actions[order.pop("do")]
        print(json.dumps(await action(**order)), flush=True)
    storm.close()


if __name__ == "__main__":
    where, name, spoken, group_count, member_count, groups_prefix = sys.argv[1:]
    asyncio.run(serve(where, name, spoken, int(group_count), int(member_count), groups_prefix))
