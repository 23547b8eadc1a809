"""The clients under asyncio: the names of `ottla`, awaited.

    async with ottla.aio.Consumer("clicks", bootstrap_servers="localhost:9092", group_id="g") as consumer:
        async for record in consumer:
            ...

Like those of `ottla`, the names are imported when they are first used.
"""

TYPE_CHECKING = False  # type checkers take it for True, and `typing` need not be imported
if TYPE_CHECKING:
    from ottla.aio.admin import Admin as Admin
    from ottla.aio.consumer import Consumer as Consumer
    from ottla.aio.producer import Producer as Producer
    from ottla.aio.simple_consumer import SimpleConsumer as SimpleConsumer

_HOMES = {
    "Admin": "ottla.aio.admin",
    "Consumer": "ottla.aio.consumer",
    "Producer": "ottla.aio.producer",
    "SimpleConsumer": "ottla.aio.simple_consumer",
}

__all__ = [*_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # or a checker would believe in any name

    def __getattr__(name):
        from importlib import import_module

        if name not in _HOMES:
            raise AttributeError(f"module 'ottla.aio' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
