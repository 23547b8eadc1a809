"""Three brokers, three replicas, acks=all: Ottla beside Apache Kafka."""
