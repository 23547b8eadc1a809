"""One partition's roles: leader and, later, follower; the high watermark."""
