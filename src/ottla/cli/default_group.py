"""A click group with a command that is meant when none is named: `ottla cluster` is `ottla cluster "
"status`."""

from __future__ import annotations

from typing import Any

import click


class DefaultGroup(click.Group):
    def __init__(self, *args: Any, default: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.default = default
        self.no_args_is_help = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else "--"
        if first.startswith("-") and first not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
