"""Sockets, frames, reply order, backpressure, and the real clock and disk."""
