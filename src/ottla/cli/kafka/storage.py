"""`kafka-storage.sh`: make cluster ids and format directories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ottla.cli.kafka.arguments import Arguments, UsageError
from ottla.log.meta_properties import MetaProperties
from ottla.model.uuids import uuid_to_text


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-storage.sh",
        "Format a node's directories.",
        epilog="example: kafka-storage.sh format -t $(kafka-storage.sh random-uuid) "
        "-c config/kraft/server.properties",
    )
    commands = parser.add_commands()
    commands.add_parser("random-uuid", help="print a random cluster id")
    info = commands.add_parser("info", help="show what is known of the directories")
    info.add_argument("--config", "-c", required=True, metavar="FILE", help="the node's properties")
    formatting = commands.add_parser("format", help="format the directories")
    formatting.add_argument("--config", "-c", required=True, metavar="FILE", help="the node's properties")
    formatting.add_argument("--cluster-id", "-t", required=True, metavar="ID", help="the cluster's id")
    formatting.add_argument("--ignore-formatted", "-g", action="store_true")
    formatting.add_argument(
        "--release-version", "-r", metavar="VERSION", help="the metadata.version to begin with"
    )
    formatting.add_argument("--feature", "-f", action="append", metavar="NAME=LEVEL")
    quorum = formatting.add_mutually_exclusive_group()
    quorum.add_argument("--standalone", "-s", action="store_true", help="a quorum of one")
    quorum.add_argument("--no-initial-controllers", "-N", action="store_true")
    quorum.add_argument("--initial-controllers", "-I", metavar="VOTERS")
    mapping = commands.add_parser("version-mapping", help="show the levels of a release")
    mapping.add_argument("--release-version", "-r", metavar="VERSION")
    return parser


def run(args: Sequence[str]) -> int:
    options = arguments().parse(args)
    if options.command == "random-uuid":
        from ottla.cli.formatting import random_uuid_text

        print(random_uuid_text())
        return 0
    if options.command == "info":
        return info(options.config)
    if options.command == "version-mapping":
        return version_mapping(options.release_version)
    return format_storage(options)


def metadata_level(text: str | None) -> int:
    """The metadata.version that a release (`4.2`, `4.2-IV1`) stands for; the newest without one."""
    from ottla.metadata.features import METADATA_VERSION_HIGH, METADATA_VERSION_LEVELS

    if text is None:
        return METADATA_VERSION_HIGH
    found = [level for level, name in METADATA_VERSION_LEVELS.items() if name == text]
    found = found or [level for level, name in METADATA_VERSION_LEVELS.items() if name.split("-")[0] == text]
    if not found:
        raise UsageError(f"unknown release {text}: known are {', '.join(METADATA_VERSION_LEVELS.values())}")
    return max(found)


def format_storage(options: argparse.Namespace) -> int:
    from ottla.cli.formatting import CannotFormat, format_directories
    from ottla.cli.server_properties import load_properties
    from ottla.log.meta_properties import BadMetaProperties
    from ottla.metadata.features import METADATA_VERSION_HIGH, METADATA_VERSION_LEVELS
    from ottla.model.config_key import ConfigError
    from ottla.model.server_config import ServerConfig
    from ottla.net.disk import OsDisk

    level = metadata_level(options.release_version)
    if level != METADATA_VERSION_HIGH or options.feature:
        raise UsageError(
            f"a new cluster begins with metadata.version {METADATA_VERSION_LEVELS[METADATA_VERSION_HIGH]}: "
            "change features after the start with kafka-features.sh"
        )
    properties = load_properties(options.config)
    try:
        config = ServerConfig(properties)
        outcome = format_directories(
            OsDisk(),
            properties,
            options.cluster_id,
            ignore_formatted=options.ignore_formatted,
            standalone=options.standalone,
            initial_controllers=options.initial_controllers,
            no_initial_controllers=options.no_initial_controllers,
        )
    except (CannotFormat, BadMetaProperties, ConfigError) as error:
        raise UsageError(str(error)) from None
    if not outcome.formatted:
        print("All of the log directories are already formatted.")
    release = METADATA_VERSION_LEVELS[level]
    is_dynamic = options.standalone or options.initial_controllers
    kinds = {config.metadata_log_dir: "dynamic metadata voter" if is_dynamic else "metadata"}
    for directory in outcome.formatted:
        kind = kinds.get(directory, "data")
        print(f"Formatting {kind} directory {directory} with metadata.version {release}.")
    return 0


def info(path: str) -> int:
    from ottla.cli.formatting import directories
    from ottla.cli.server_properties import load_properties
    from ottla.log.meta_properties import BadMetaProperties, read_meta_properties
    from ottla.model.config_key import ConfigError
    from ottla.model.server_config import ServerConfig
    from ottla.net.disk import OsDisk

    try:
        config = ServerConfig(load_properties(path))
    except ConfigError as error:
        raise UsageError(str(error)) from None
    disk = OsDisk()
    problems = []
    found = []
    for directory in directories(config):
        try:
            meta = read_meta_properties(disk, directory) if disk.exists(directory) else None
        except BadMetaProperties as error:
            problems.append(str(error))
            continue
        if meta is None:
            problems.append(f"{directory} is not formatted.")
        else:
            found.append((directory, meta))
    if not found:
        print("No formatted log directories were found.")
    else:
        print("Found log directories:" if len(found) > 1 else "Found log directory:")
        for directory, _ in found:
            print(f"  {directory}")
    print()
    for line in dict.fromkeys(metadata_line(meta) for _, meta in found):
        print(f"Found metadata: {line}")
        print()
    if problems:
        print("Found problems:" if len(problems) > 1 else "Found problem:")
        for problem in problems:
            print(f"  {problem}")
        return 1
    return 0


def metadata_line(meta: MetaProperties) -> str:
    """What a meta.properties says, in the order of its keys. Each directory has an id of its own."""
    fields = {"cluster.id": meta.cluster_id, "node.id": meta.node_id, "version": meta.version}
    if meta.directory_id is not None:
        fields["directory.id"] = uuid_to_text(meta.directory_id)
    return "{" + ", ".join(f"{name}={fields[name]}" for name in sorted(fields)) + "}"


def version_mapping(release: str | None) -> int:
    from ottla.metadata.features import FEATURES, METADATA_VERSION, METADATA_VERSION_LEVELS

    level = metadata_level(release)
    print(f"{METADATA_VERSION}={level} ({METADATA_VERSION_LEVELS[level]})")
    for feature in FEATURES.values():
        if feature.name != METADATA_VERSION:
            print(f"{feature.name}={feature.high}")
    return 0
