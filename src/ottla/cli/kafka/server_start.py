"""`kafka-server-start.sh`: run a broker with a properties file. (`-daemon` is the script's own business.)"""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.kafka.arguments import Arguments, UsageError, pairs


def run(args: Sequence[str]) -> int:
    from ottla.cli.server_properties import load_properties
    from ottla.cli.start import run_broker

    parser = Arguments(
        "kafka-server-start.sh",
        "Run a broker.",
        epilog="example: kafka-server-start.sh config/kraft/server.properties --override num.partitions=3",
    )
    parser.add_argument("file", metavar="server.properties", help="the broker's properties")
    parser.add_argument(
        "--override", action="append", metavar="KEY=VALUE", help="a setting that replaces the file's"
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    if list(args) == ["--version"]:
        from ottla import __version__

        print(__version__)
        return 0
    options = parser.parse(args)
    if options.file.startswith("-"):
        raise UsageError(f"{options.file} is not a properties file")
    properties = load_properties(options.file)
    properties.update(pairs(options.override, "--override"))
    return run_broker(properties)
