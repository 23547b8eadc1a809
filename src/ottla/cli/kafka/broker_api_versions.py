"""`kafka-broker-api-versions.sh`: which versions of which API each broker speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.cli.kafka.arguments import Arguments, connect


def run(args: Sequence[str]) -> int:
    parser = Arguments(
        "kafka-broker-api-versions.sh",
        "Show the API versions of every broker.",
        epilog="example: kafka-broker-api-versions.sh --bootstrap-server localhost:9092",
    )
    parser.add_bootstrap()
    options = parser.parse(args)
    with connect(options) as client:
        described = client.run(client.admin.describe_cluster())
        client.run(client.cluster.discover(()))
        for broker in described.brokers:
            ranges = client.api_ranges(broker.node_id)
            fenced = str(broker.fenced).lower()
            rack = "null" if broker.rack is None else broker.rack
            print(f"{broker.address} (id: {broker.node_id} rack: {rack} isFenced: {fenced}) -> (")
            print(",\n".join(f"\t{line}" for line in api_lines(ranges)))
            print(")")
    return 0


def api_lines(ranges: Mapping[int, tuple[int, int]]) -> list[str]:
    """One line for each API that either side knows and clients may call."""
    from ottla.wire.messages.index import APIS

    lines = []
    for api_key in sorted({*ranges, *(key for key, api in APIS.items() if "broker" in api.listeners)}):
        api = APIS.get(api_key)
        name = "UNKNOWN" if api is None else api.name
        if api_key not in ranges:
            lines.append(f"{name}({api_key}): UNSUPPORTED")
            continue
        low, high = ranges[api_key]
        text = str(low) if low == high else f"{low} to {high}"
        usable = "usable: none"
        if api is not None and min(high, api.max_version) >= max(low, api.min_version):
            usable = f"usable: {min(high, api.max_version)}"
        lines.append(f"{name}({api_key}): {text} [{usable}]")
    return lines
