"""Pipelines measured: our source and sink beside Spark's own Kafka connector."""
