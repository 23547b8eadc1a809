"""Hundreds of consumer groups that rebalance at once, beside a steady load: how the broker bears it."""
