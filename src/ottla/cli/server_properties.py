"""A broker's properties as the command line gives them: a file, then `--data`, `--port` and `--set`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

DEFAULT_LISTENER = "PLAINTEXT"


def load_properties(path: str) -> dict[str, str]:
    """The pairs of a `.properties` file; a one-line error where it cannot be read."""
    from ottla.model.properties import PropertiesError, decode_properties

    try:
        with open(path, "rb") as file:
            return decode_properties(file.read())
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    except PropertiesError as error:
        raise click.ClickException(f"{path}: {error}") from None


def server_properties(
    path: str | None, data_dirs: Sequence[str], port: int | None, overrides: Mapping[str, str]
) -> dict[str, str]:
    """All of it together; `overrides` win."""
    pairs = load_properties(path) if path is not None else {}
    if data_dirs:
        pairs.pop("log.dir", None)
        pairs["log.dirs"] = ",".join(data_dirs)
    if port is not None:
        set_port(pairs, port)
    pairs.update(overrides)
    return pairs


def set_port(pairs: dict[str, str], port: int) -> None:
    """Moves the clients' listener (the first that is not the controller's) to a port, and what is advertised
    under its name with it.
    """
    controllers = {name.strip().upper() for name in pairs.get("controller.listener.names", "").split(",")}
    listeners = _items(pairs, "listeners")
    names = [item.partition("://")[0].upper() for item in listeners]
    name = next((name for name in names if name not in controllers), None)
    if name is None:
        name = DEFAULT_LISTENER
        listeners.insert(0, f"{name}://:{port}")
    pairs["listeners"] = ",".join(_with_port(item, name, port) for item in listeners)
    advertised = _items(pairs, "advertised.listeners")
    if advertised:
        pairs["advertised.listeners"] = ",".join(_with_port(item, name, port) for item in advertised)


def _items(pairs: Mapping[str, str], key: str) -> list[str]:
    return [item.strip() for item in pairs.get(key, "").split(",") if item.strip()]


def _with_port(listener: str, name: str, port: int) -> str:
    found, _, address = listener.partition("://")
    return f"{found}://{address.rpartition(':')[0]}:{port}" if found.upper() == name else listener
