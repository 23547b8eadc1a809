"""Bytes to messages and back, with no sockets."""
