"""Thin commands; each subcommand imports what it needs when it runs."""
