"""Virtual clock, disk and network, and a whole broker running on them under one seed."""
