"""DescribeLogDirs (key 35): the directories, how full they are, and what lies in them. v4 total and usable
bytes.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def handle(ctx: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    wanted: set[tuple[str, int]] | None = None
    if request.topics is not None:
        wanted = {(topic.topic, index) for topic in request.topics for index in topic.partitions}
    response = DescribeLogDirsResponse()
    for directory in ctx.node.logs.describe_dirs():
        topics: dict[str, DescribeLogDirsTopic] = {}
        for log in directory.logs:
            if wanted is not None and log.tp not in wanted:
                continue
            topic = topics.get(log.tp.topic)
            if topic is None:
                topic = topics[log.tp.topic] = DescribeLogDirsTopic(name=log.tp.topic)
            topic.partitions.append(
                DescribeLogDirsPartition(
                    partition_index=log.tp.partition,
                    partition_size=log.size_bytes,
                    offset_lag=log.offset_lag,
                    is_future_key=log.is_future,
                )
            )
        response.results.append(
            DescribeLogDirsResult(
                error_code=directory.error,
                log_dir=directory.path,
                topics=list(topics.values()),
                total_bytes=directory.total_bytes,
                usable_bytes=directory.usable_bytes,
            )
        )
    return response
