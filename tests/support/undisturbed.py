"""The type of the `undisturbed` fixture."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from support.bystander import Bystander

Undisturbed = Callable[..., AbstractContextManager[Bystander]]
