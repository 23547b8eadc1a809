"""What the operator decides about transactions, as the coordinator reads it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TransactionSettings:
    """Kafka's keys; how often the coordinator looks for what is overdue is the shell's matter."""

    max_timeout_ms: int = 900_000
    """`transaction.max.timeout.ms`"""
    id_expiration_ms: int = 7 * 24 * 3_600_000
    """`transactional.id.expiration.ms`"""
    partition_verification: bool = True
    """`transaction.partition.verification.enable`"""
    two_phase_commit_enable: bool = False
    """`transaction.two.phase.commit.enable`"""
