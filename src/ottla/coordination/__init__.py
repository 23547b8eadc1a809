"""What the coordinators of groups and of transactions share: decisions, their records, their answers."""
