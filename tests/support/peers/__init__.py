"""Clients of other projects behind one small interface: write events, read partitions to their end."""
