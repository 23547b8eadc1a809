"""The clients for threads: the public classes over the core, each call blocking until it is done."""
