"""The node: dispatch table, handlers, waiting, timers, and the asyncio shell around them."""
