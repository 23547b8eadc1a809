"""Python clients side by side against one broker: `make bench-clients`."""
