"""Members of consumer groups, one process each, that tell what happens to them."""
