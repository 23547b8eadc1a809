"""The parts of the test driver: each kind of node, record by record, as Kafka Streams does it."""
