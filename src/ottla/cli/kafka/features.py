"""`kafka-features.sh`: which features the cluster has agreed on, and changing that."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.metadata.features import METADATA_VERSION, METADATA_VERSION_LEVELS

if TYPE_CHECKING:
    from ottla.client.admin import FeatureDescription

UPGRADE = 1
SAFE_DOWNGRADE = 2
UNSAFE_DOWNGRADE = 3


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-features.sh",
        "Describe and change the features of a cluster.",
        epilog="example: kafka-features.sh --bootstrap-server localhost:9092 describe",
    )
    parser.add_bootstrap_or_controller()
    commands = parser.add_commands()
    commands.add_parser("describe", help="show the features")
    for name, text in (
        ("upgrade", "raise features"),
        ("downgrade", "lower features"),
        ("disable", "turn features off"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--dry-run", action="store_true", help="only check")
        if name == "disable":
            command.add_argument("--feature", action="append", metavar="NAME", required=True)
        else:
            command.add_argument("--feature", action="append", metavar="NAME=LEVEL")
            command.add_argument("--metadata", metavar="VERSION", help="the metadata.version, like 4.2-IV1")
            command.add_argument("--release-version", metavar="VERSION", help="all features of a release")
        if name != "upgrade":
            command.add_argument("--unsafe", action="store_true", help="even if metadata is lost")
    return parser


def run(args: Sequence[str]) -> int:
    from ottla.client.errors import ServerError

    options = arguments().parse(args)
    if options.command == "describe":
        with connect(options) as client:
            features, epoch = client.run(client.admin.describe_features())
        for feature in features:
            print(feature_line(feature, epoch))
        return 0
    levels = wanted_levels(options)
    upgrade_type = UPGRADE
    if options.command != "upgrade":
        upgrade_type = UNSAFE_DOWNGRADE if options.unsafe else SAFE_DOWNGRADE
    with connect(options) as client:
        try:
            client.run(
                client.admin.update_features(levels, upgrade_type=upgrade_type, validate_only=options.dry_run)
            )
        except ServerError as error:
            for name, level in levels.items():
                target = "" if options.command == "disable" else f" to {level}"
                print(f"Could not {options.command} {name}{target}. {error.message}")
            print(f"{len(levels)} out of {len(levels)} operation(s) failed.")
            return 1
    verb = {"upgrade": "upgraded", "downgrade": "downgraded", "disable": "disabled"}[options.command]
    for name, level in levels.items():
        target = "" if options.command == "disable" else f" to {level}"
        print(f"{name} {'can be' if options.dry_run else 'was'} {verb}{target}.")
    return 0


def wanted_levels(options: argparse.Namespace) -> dict[str, int]:
    from ottla.cli.kafka.storage import metadata_level

    levels: dict[str, int] = {}
    for item in options.feature or ():
        name, equals, text = item.partition("=")
        if options.command == "disable":
            levels[item] = 0
            continue
        if not equals or not text.isdecimal():
            raise UsageError(f"--feature {item}: expected name=level")
        levels[name] = int(text)
    if options.command != "disable":
        release = options.metadata or options.release_version
        if release is not None:
            levels[METADATA_VERSION] = metadata_level(release)
    if not levels:
        raise UsageError("give --feature, --metadata or --release-version")
    return levels


def level_text(feature: str, level: int) -> str:
    if feature == METADATA_VERSION:
        return METADATA_VERSION_LEVELS.get(level, f"UNKNOWN [{level}]")
    return str(level)


def feature_line(feature: FeatureDescription, epoch: int) -> str:
    return (
        f"Feature: {feature.name}\t"
        f"SupportedMinVersion: {level_text(feature.name, feature.supported_min)}\t"
        f"SupportedMaxVersion: {level_text(feature.name, feature.supported_max)}\t"
        f"FinalizedVersionLevel: {level_text(feature.name, feature.finalized)}\t"
        f"Epoch: {epoch if epoch >= 0 else '-'}"
    )
