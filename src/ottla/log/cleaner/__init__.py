"""Log compaction: from a `CleaningJob` to `.cleaned` files; nothing here touches a log that is in use."""
