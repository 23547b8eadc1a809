"""The agent on every host: publishes the lines of log files as they are written.

`web=/var/log/nginx/access.log` sends the lines of that file to the topic `logs.web`, with the host's name as
the key: the lines of one host stay in order. The places in the files are noted only after the cluster has
acknowledged everything before them, so a crash repeats a few lines and loses none.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import time
from itertools import islice
from pathlib import Path

from tail import State, Tail

import ottla

LINES_MAX = 10_000
"""So many lines of a file at most between two notes of where we are."""


def ship(producer: ottla.Producer, host: str, services: list[tuple[str, Tail]]) -> int:
    """Sends what is new in all files; returns once it is acknowledged."""
    sent: list[ottla.RecordFuture] = []
    for service, tail in services:
        for line in islice(tail.lines(), LINES_MAX):
            headers = {"file": tail.path}
            sent.append(producer.send(f"logs.{service}", line, key=host, headers=headers))
    producer.flush()
    for future in sent:
        future.result()  # raises if a line could not be stored: nothing is noted then
    return len(sent)


def create_topics(server: str, services: set[str]) -> None:
    with ottla.Admin(bootstrap_servers=server) as admin:
        results = admin.create_topics([ottla.NewTopic(f"logs.{service}", 3) for service in sorted(services)])
        for error in results.failed.values():
            if not isinstance(error, ottla.errors.TopicAlreadyExists):
                raise error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="SERVICE=FILE")
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--host", default=socket.gethostname())
    parser.add_argument("--state", type=Path, default=Path("ship.state"), help="where to note the places")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between two looks at the files")
    parser.add_argument("--once", action="store_true", help="send what is there and stop")
    options = parser.parse_args()
    state = State(options.state)
    services = []
    for item in options.files:
        service, equals, path = item.partition("=")
        if not equals:
            parser.error(f"{item}: write SERVICE=FILE")
        services.append((service, state.tail(path)))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    create_topics(options.bootstrap_server, {service for service, _ in services})
    with ottla.Producer(bootstrap_servers=options.bootstrap_server, compression_type="zstd") as producer:
        try:
            while True:
                count = ship(producer, options.host, services)
                if count:
                    state.save([tail for _, tail in services])
                    print(f"{count} lines shipped", flush=True)
                elif options.once:
                    return 0
                else:
                    time.sleep(options.every)
        except KeyboardInterrupt:
            return 0


if __name__ == "__main__":
    sys.exit(main())
