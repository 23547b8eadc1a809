"""The coordinator of consumer groups: state machines over the records of `__consumer_offsets`."""
