"""What goes wrong with a topology: when it is written, and when a function of it fails on a record."""

from __future__ import annotations


class TopologyError(Exception):
    """The program cannot mean anything: said when it is built, before a record is read."""


class RecordError(Exception):
    """A function of the program raised on a record; the text names the step, and the record where known."""


class SerdeError(Exception):
    """A value that a serde cannot write, or bytes that it cannot read."""
