"""One broker beside what a user would pick instead: `make bench`."""
