"""A small website that publishes what its visitors do: pages seen, searches, orders.

Each kind of activity has its topic, and the visitor (a cookie) is the key: what one visitor did stays in
order. A page never waits for the log: `send` only puts the event in line. Should it not be stored, that is
logged, and the visitor does not notice.
"""

from __future__ import annotations

import argparse
import html
import logging
import signal
import sys
import time
import uuid
from contextlib import suppress
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from events import ORDERS, PAGE_VIEWS, SEARCHES, TOPICS

import ottla

PRODUCTS = {"tent": "Tent", "lamp": "Lamp", "stove": "Stove", "rope": "Rope"}
log = logging.getLogger("site")


class Site(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, producer: ottla.Producer) -> None:
        super().__init__(("127.0.0.1", port), Page)
        self.producer = producer

    def publish(self, topic: str, visitor: str, event: dict[str, Any]) -> None:
        event["at"] = time.time()
        self.producer.send(topic, event, key=visitor, on_delivery=self._stored)

    def _stored(self, metadata: ottla.RecordMetadata | None, error: Exception | None) -> None:
        if error is not None:
            log.error("an event was lost: %s", error)


class Page(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        visitor, is_new = self._visitor()
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if url.path == "/search":
            words = query.get("q", [""])[0]
            found = [name for name, title in PRODUCTS.items() if words.lower() in title.lower()]
            self.server.publish(SEARCHES, visitor, {"words": words, "found": len(found)})
            body = links(found)
        elif url.path == "/":
            body = links(list(PRODUCTS))
        elif url.path.removeprefix("/") in PRODUCTS:
            name = url.path.removeprefix("/")
            body = f"<h1>{PRODUCTS[name]}</h1><form method=post><button>Order</button></form>"
        else:
            self.send_error(404)
            return
        self.server.publish(PAGE_VIEWS, visitor, {"page": url.path, "from": self.headers.get("Referer", "")})
        self._answer(visitor, is_new, body)

    def do_POST(self) -> None:
        visitor, is_new = self._visitor()
        name = urlsplit(self.path).path.removeprefix("/")
        if name not in PRODUCTS:
            self.send_error(404)
            return
        self.server.publish(ORDERS, visitor, {"product": name})
        self._answer(visitor, is_new, f"<p>{PRODUCTS[name]}: ordered.</p>")

    def _visitor(self) -> tuple[str, bool]:
        cookies = SimpleCookie(self.headers.get("Cookie", ""))
        if "visitor" in cookies:
            return cookies["visitor"].value, False
        return uuid.uuid4().hex, True

    def _answer(self, visitor: str, is_new: bool, body: str) -> None:
        data = f"<!doctype html><title>Shop</title>{body}".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        if is_new:
            self.send_header("Set-Cookie", f"visitor={visitor}; HttpOnly")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        log.debug(format, *args)


def links(names: list[str]) -> str:
    return "".join(f'<p><a href="/{name}">{html.escape(PRODUCTS[name])}</a></p>' for name in names)


def create_topics(server: str, partitions: int) -> None:
    with ottla.Admin(bootstrap_servers=server) as admin:
        results = admin.create_topics([ottla.NewTopic(topic, partitions) for topic in TOPICS])
        for error in results.failed.values():
            if not isinstance(error, ottla.errors.TopicAlreadyExists):
                raise error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstrap-server", default="localhost:9092")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO)
    create_topics(options.bootstrap_server, partitions=3)
    with (
        ottla.Producer(
            bootstrap_servers=options.bootstrap_server,
            value_serializer="json",
            linger_ms=20,  # nobody waits for these events: more of them fit into a request
            compression_type="lz4",
        ) as producer,
        Site(options.port, producer) as site,
    ):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        print(f"http://127.0.0.1:{site.server_port}/", flush=True)
        with suppress(KeyboardInterrupt):
            site.serve_forever()
    # Leaving the block has published what was still in line.
    return 0


if __name__ == "__main__":
    sys.exit(main())
