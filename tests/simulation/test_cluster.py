"""A whole cluster: quorum, controllers, replicas, coordinators, clients, and all their troubles.

Nodes are killed, lose their power, are paused, stopped and cut off from each other, while everybody works. No
acknowledged record is lost, none is there twice, an epoch has one leader, what was committed stays and is the
same everywhere, transactions are whole, and when it is over everything comes back by itself.

`test_cluster_plants.py` shows that this can fail.
"""

from __future__ import annotations

import random
from collections import Counter

from ottla.testing.cluster_run import ClusterRun

SEEDS = range(1, 13)
FRESH_SEED = random.SystemRandom().getrandbits(32)
STEPS = 8

EXERCISED = (
    *("controllers_elected", "controller_changes", "partition_elections", "leader_changes"),
    *("isr_shrinks", "isr_expands", "brokers_fenced", "truncations", "truncated_bytes"),
    *("crashes", "kills", "power_losses", "bytes_lost", "clean_shutdowns", "cuts", "cuts_one_way"),
    *("messages_held", "fault_pause", "records_acked", "records_followed", "commits", "aborts"),
    *("replicas_compared", "bytes_compared", "images_compared", "settled"),
)


def test_a_cluster_keeps_its_promises_whatever_happens_to_it() -> None:
    total: Counter[str] = Counter()
    for seed in (*SEEDS, FRESH_SEED):
        total += ClusterRun(seed, steps=STEPS).run()
    assert [what for what in EXERCISED if total[what] == 0] == [], dict(total)


def test_one_seed_is_one_story() -> None:
    assert ClusterRun(3, steps=4).run() == ClusterRun(3, steps=4).run()
