"""Kafka's own command line tools: their options, their output where scripts read it, on Ottla's client."""
