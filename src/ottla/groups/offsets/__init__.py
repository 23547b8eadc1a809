"""The offsets that groups have committed: who may commit, fetch and delete them, and when they expire."""
