"""Which member of a group reads which partition: the client's assignors, and those of the coordinator."""
