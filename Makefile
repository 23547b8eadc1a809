# Two commands do everything on a machine with Python 3.11+, gcc and make: `make demo` and `make test`.
# Both may be run again at any time; the virtual environment is made once and refreshed when its inputs change.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
BUILD_INPUTS := pyproject.toml setup.py constraints.txt $(addprefix src/ottla/wire/,record_codec.py record_writer.py compaction_codec.py)

.DEFAULT_GOAL := help
.PHONY: help demo test lint types generate sim million groups-chaos exactly-once txn-chaos txn-plants cluster-chaos cluster-failover cluster-txn-chaos compaction-beside-kafka bench bench-groups bench-compaction bench-clients bench-pipelines bench-replication pipelines-chaos clean

help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Ottla needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(STAMP): $(BIN)/python $(BUILD_INPUTS)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[demo]'
	@touch $(STAMP)

$(DEV): $(BIN)/python $(BUILD_INPUTS)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev,demo]'
	@touch $(STAMP) $(DEV)

demo: $(STAMP) ## Start a broker, publish 336,776 real events, read them back, print what was measured
	$(BIN)/python examples/flights/demo.py

test: $(DEV) lint ## Lint, type-check and run every test
	$(BIN)/python tools/run_tests.py

lint: $(DEV)
	$(BIN)/ruff check src tests tools benchmarks examples setup.py
	$(BIN)/ruff format --check src tests tools benchmarks examples setup.py

types: $(DEV)
	$(BIN)/mypy

generate: $(DEV) ## Regenerate what comes from schema/ (messages, record fields), from the key tables (docs) and from the admin cores
	$(BIN)/python tools/generate_messages.py
	$(BIN)/python tools/generate_config_docs.py
	$(BIN)/python tools/generate_record_fields.py
	$(BIN)/python tools/generate_client_config_docs.py
	$(BIN)/python tools/generate_admin_facades.py

sim: $(DEV) ## Simulate crashes, bad disks, bad networks and a whole cluster: SEED=n replays one run, MINUTES=n or HOURS=n goes on (default 1 minute), PART=cluster is one part
	$(BIN)/python -m ottla.testing.run --part $(or $(PART),all) $(if $(SEED),--seed $(SEED),$(if $(HOURS),--hours $(HOURS),--minutes $(or $(MINUTES),1)))

million: $(DEV) ## 1,000,000 idempotent records while the broker is killed with -9 ten times; CLIENT=ottla (default) or librdkafka
	$(BIN)/python tests/chaos/million.py --client $(or $(CLIENT),ottla)

groups-chaos: $(DEV) ## Groups of up to 20 members of every client while members and broker are killed; SEED=n replays a plan
	$(BIN)/python tests/chaos/groups/run.py $(if $(SEED),--seed $(SEED))

exactly-once: $(DEV) ## 200,000 records, consume-transform-produce (librdkafka, Java), every process killed with -9; SEED=n
	$(BIN)/python tests/chaos/exactly_once/run.py $(if $(SEED),--seed $(SEED))

txn-chaos: $(DEV) ## Transactions, sends and polls under random faults, checked as Jepsen does; MINUTES=n (default 20), SEED=n
	$(BIN)/python tests/chaos/kafka_workload/run.py --minutes $(or $(MINUTES),20) $(if $(SEED),--seed $(SEED))

txn-plants: $(DEV) ## Plants each class of bug between clients and broker; the checker has to find every one
	$(BIN)/python tests/chaos/kafka_workload/run.py --plant all

cluster-chaos: $(DEV) ## 2,000,000 idempotent records on 3 replicas, 30 times kill -9, 10 network cuts; SEED=n, NODES=5, SYSTEM=kafka
	$(BIN)/python tests/chaos/cluster/run.py $(if $(SEED),--seed $(SEED)) $(if $(NODES),--nodes $(NODES)) $(if $(SYSTEM),--system $(SYSTEM))

cluster-failover: $(DEV) ## A broker that leads 1,000 of 3,000 partitions is killed, then the controller; restarts in turn; SYSTEM=kafka
	$(BIN)/python tests/chaos/cluster/failover.py $(if $(SYSTEM),--system $(SYSTEM))

cluster-txn-chaos: $(DEV) ## The same as txn-chaos on a cluster of 3 nodes that are killed, cut and wiped; MINUTES=n (default 5), SEED=n
	$(BIN)/python tests/chaos/kafka_workload/run.py --nodes $(or $(NODES),3) --minutes $(or $(MINUTES),5) $(if $(SEED),--seed $(SEED))

pipelines-chaos: $(DEV) ## 500,000 records through a stateful pipeline, exactly once, while drivers, executors and tasks are killed; SEED=n
	$(BIN)/python tests/chaos/pipeline_sink/run.py $(if $(SEED),--seed $(SEED))

compaction-beside-kafka: $(DEV) ## The same log through Apache Kafka's cleaner and through ours: what is left has to be equal
	$(BIN)/python -m pytest -q tests/interop/compaction_beside_kafka.py

bench: $(DEV) ## One broker beside Apache Kafka, same clients, same minutes: under an hour; QUICK=1: about 3 minutes; PARTS=latency,start
	PYTHONPATH=benchmarks $(BIN)/python -m single_broker.run $(if $(QUICK),--quick) $(if $(PARTS),--only $(PARTS))

bench-groups: $(DEV) ## 200 consumer groups rebalance at once, Ottla beside Apache Kafka; QUICK=1 takes about 2 minutes
	PYTHONPATH=benchmarks $(BIN)/python -m groups.run $(if $(QUICK),--quick)

bench-compaction: $(DEV) ## Compact a 1 GB log beside a producer at 50 MB/s, Ottla beside Apache Kafka; QUICK=1 is shorter
	PYTHONPATH=benchmarks $(BIN)/python -m compaction.run $(if $(QUICK),--quick)

bench-clients: $(DEV) ## Ottla's client beside confluent-kafka, kafka-python and aiokafka at one broker; QUICK=1 is shorter
	PYTHONPATH=benchmarks $(BIN)/python -m clients.run $(if $(QUICK),--quick)

bench-pipelines: $(DEV) ## Our Spark source beside Spark's own Kafka connector, and the latency of both; QUICK=1 is shorter
	PYTHONPATH=benchmarks $(BIN)/python -m pipelines.run $(if $(QUICK),--quick)

bench-replication: $(DEV) ## 3 brokers, 3 replicas, acks=all, Ottla beside Apache Kafka; QUICK=1 is shorter
	PYTHONPATH=benchmarks $(BIN)/python -m replication.run $(if $(QUICK),--quick)

clean: ## Remove the virtual environment and everything that was built
	rm -rf $(VENV) build src/*.egg-info src/ottla/wire/*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
