"""Clients of any Kafka cluster; the command line uses them."""
