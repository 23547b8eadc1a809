"""What pure code needs from outside: a clock, randomness, a disk, effects to yield."""
