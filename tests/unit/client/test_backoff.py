"""Waiting before another attempt: KIP-580's exponential back-off, cut at the deadline."""

from __future__ import annotations

from ottla.client.backoff import Backoff


def test_waits_double_up_to_the_bound() -> None:
    backoff = Backoff(1e9, lambda: 0.5, first_ms=100, max_ms=1_000)
    assert [backoff.next_wait_ms(0) for _ in range(6)] == [100, 200, 400, 800, 1_000, 1_000]


def test_jitter_moves_a_wait_by_a_fifth_at_most() -> None:
    assert Backoff(1e9, lambda: 0.0).next_wait_ms(0) == 80
    assert Backoff(1e9, lambda: 1.0).next_wait_ms(0) == 120


def test_the_last_wait_ends_at_the_deadline_and_then_there_is_none() -> None:
    backoff = Backoff(130, lambda: 0.5)
    assert backoff.next_wait_ms(0) == 100
    assert backoff.next_wait_ms(100) == 30
    assert backoff.next_wait_ms(130) is None


def test_a_thousand_attempts_do_not_overflow() -> None:
    backoff = Backoff(1e12, lambda: 0.5)
    assert [backoff.next_wait_ms(0) for _ in range(1_000)][-1] == 1_000
