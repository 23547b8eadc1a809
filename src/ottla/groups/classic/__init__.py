"""The classic group protocol: members agree on a generation, and their leader assigns the partitions."""
