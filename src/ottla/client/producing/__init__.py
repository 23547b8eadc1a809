"""Publishing records: from what a user sends to batches that a broker has acknowledged."""
