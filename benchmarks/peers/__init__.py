"""Other systems that benchmarks compare with, each a class with `name` and `start(topic, partitions)`."""
