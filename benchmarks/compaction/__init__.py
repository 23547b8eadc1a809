"""`make bench-compaction`: a log of 1 GB with a million keys is compacted beside a steady producer."""
