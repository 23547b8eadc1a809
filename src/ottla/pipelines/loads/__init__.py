"""Batch loads: topics into tables of files, and files back into topics."""
