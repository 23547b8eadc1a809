"""One partition on disk: segments, indexes, recovery, retention, producer state, leader epochs."""
