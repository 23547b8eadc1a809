"""No transactional batch is written that the coordinator does not know of (KIP-890), and markers of both
generations of transactions end what they are meant to end.
"""

from __future__ import annotations

import pytest
from log_bench import NOW, append, marker, open_log, sent

from ottla.log.append import AppendInfo
from ottla.log.append_origin import AppendOrigin
from ottla.log.log import Log
from ottla.log.verification import VERIFICATION_OFF, Verification
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import VERIFICATIONS_MAX

DAY_MS = 86_400_000


def ask(
    log: Log, producer_id: int, sequence: int = 0, *, epoch: int = 0, second: bool = False
) -> Verification | None:
    return log.begin_verification(producer_id, epoch, sequence, bumps_epochs=second, now_ms=NOW)


def write(
    log: Log, sequence: int, shown: Verification | None, *, epoch: int = 0, count: int = 1
) -> AppendInfo:
    return append(log, sent(1, sequence, count, epoch=epoch, transactional=True), verification=shown)


def refusal(log: Log, sequence: int, shown: Verification | None, *, epoch: int = 0) -> ErrorCode:
    end_offset = log.log_end_offset
    with pytest.raises(KafkaError) as refused:
        write(log, sequence, shown, epoch=epoch)
    assert log.log_end_offset == end_offset
    return refused.value.code


def end(log: Log, *, epoch: int = 0, version: int = 0, coordinator_epoch: int = 0) -> AppendInfo:
    data = marker(1, committed=True, epoch=epoch, coordinator_epoch=coordinator_epoch)
    return log.append_as_leader(data, 0, NOW, origin=AppendOrigin.COORDINATOR, transaction_version=version)


def end_refused(log: Log, *, epoch: int = 0, version: int = 0, coordinator_epoch: int = 0) -> ErrorCode:
    end_offset = log.log_end_offset
    with pytest.raises(KafkaError) as refused:
        end(log, epoch=epoch, version=version, coordinator_epoch=coordinator_epoch)
    assert log.log_end_offset == end_offset
    return refused.value.code


# --- verification


def test_a_batch_of_no_transaction_is_refused_and_leaves_no_trace() -> None:
    log = open_log()
    assert refusal(log, 0, None) == ErrorCode.INVALID_TXN_STATE
    assert log.producers.get(1) is None and log.producers.first_unstable_offset == -1


def test_the_first_batch_shows_its_verification_and_the_next_ones_need_none() -> None:
    log = open_log()
    ticket = ask(log, 1)
    assert ticket is not None
    write(log, 0, ticket)
    assert ask(log, 1, 1) is None
    assert log.producers.is_in_transaction(1, 0)
    write(log, 1, None, count=3)
    assert log.producers.first_unstable_offset == 0


def test_whoever_asks_twice_before_the_first_append_gets_the_same_ticket() -> None:
    log = open_log()
    assert ask(log, 1) is ask(log, 1, 1)


def test_a_ticket_is_good_for_one_producer_of_one_partition() -> None:
    log, other = open_log(), open_log()
    ask(log, 1)
    assert refusal(log, 0, ask(log, 2)) == ErrorCode.INVALID_TXN_STATE
    assert refusal(log, 0, ask(other, 1)) == ErrorCode.INVALID_TXN_STATE


def test_an_answer_that_a_marker_has_overtaken_opens_nothing() -> None:
    """The coordinator agreed, then aborted the transaction; its marker is written before the batch is."""
    log = open_log()
    late = ask(log, 1)
    end(log)
    assert refusal(log, 0, late) == ErrorCode.INVALID_TXN_STATE
    fresh = ask(log, 1)
    assert fresh is not late
    assert refusal(log, 0, late) == ErrorCode.INVALID_TXN_STATE, "a new question does not renew old answers"
    write(log, 0, fresh)


def test_a_marker_of_the_second_generation_leaves_the_next_transactions_question() -> None:
    """Its epoch is the next transaction's, whose first batch may have been asked for already."""
    log = open_log()
    write(log, 0, ask(log, 1, second=True))
    waiting = ask(log, 1, epoch=1, second=True)
    assert waiting is not None
    end(log, epoch=1, version=2)
    write(log, 0, waiting, epoch=1)
    stale = ask(log, 1, epoch=2, second=True)
    end(log, epoch=3, version=2)
    assert refusal(log, 0, stale, epoch=3) == ErrorCode.INVALID_TXN_STATE


def test_a_batch_with_a_newer_epoch_than_the_open_transactions_is_asked_for() -> None:
    """The transaction may have ended, and its marker be on the way."""
    log = open_log()
    write(log, 0, ask(log, 1))
    assert not log.producers.is_in_transaction(1, 1)
    assert refusal(log, 0, None, epoch=1) == ErrorCode.INVALID_TXN_STATE
    ticket = ask(log, 1, epoch=1)
    assert ticket is not None
    write(log, 0, ticket, epoch=1)


def test_an_old_epoch_is_told_before_the_coordinator_is_asked() -> None:
    log = open_log()
    write(log, 0, ask(log, 1, epoch=3), epoch=3)
    end(log, epoch=3)
    with pytest.raises(KafkaError) as refused:
        ask(log, 1, epoch=2)
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(log, 1, None, epoch=2) == ErrorCode.INVALID_PRODUCER_EPOCH, "which is recoverable"


def test_with_verification_off_every_transactional_batch_is_taken() -> None:
    log = open_log()
    write(log, 5, VERIFICATION_OFF)
    end(log)
    write(log, 6, VERIFICATION_OFF)
    assert refusal(log, 9, VERIFICATION_OFF) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_duplicate_needs_no_verification() -> None:
    log = open_log()
    first = write(log, 0, ask(log, 1), count=2)
    write(log, 2, None)
    for _ in range(2):
        again = write(log, 0, None, count=2)
        assert again.is_duplicate
        assert (again.first_offset, again.last_offset) == (first.first_offset, first.last_offset)
        end(log)


def test_a_coordinators_batch_is_checked_against_the_ticket_that_it_shows() -> None:
    """TxnOffsetCommit: what is shown must be good; the host that asks and appends in one go shows none."""
    log = open_log()
    data = sent(1, -1, transactional=True)
    stale = ask(log, 1, -1)
    end(log)
    with pytest.raises(KafkaError) as refused:
        log.append_as_leader(data, 0, NOW, origin=AppendOrigin.COORDINATOR, verification=stale)
    assert refused.value.code == ErrorCode.INVALID_TXN_STATE
    ticket = ask(log, 1, -1)
    log.append_as_leader(data, 0, NOW, origin=AppendOrigin.COORDINATOR, verification=ticket)
    end(log)
    data = sent(1, -1, transactional=True)
    log.append_as_leader(data, 0, NOW, origin=AppendOrigin.COORDINATOR)


def test_questions_are_forgotten_when_they_are_old_when_the_log_is_cut_and_on_request() -> None:
    log = open_log(producer_id_expiration_ms=DAY_MS)
    append(log)
    ticket = ask(log, 1)
    assert ticket is not None
    log.expire_producers(NOW + DAY_MS - 1)
    assert ask(log, 1) is ticket
    assert not log.producers.is_empty, "or nobody would look"
    log.expire_producers(NOW + DAY_MS)
    assert refusal(log, 0, ticket) == ErrorCode.INVALID_TXN_STATE
    ticket = ask(log, 1)
    assert ticket is not None
    log.truncate_to(0)
    assert refusal(log, 0, ticket) == ErrorCode.INVALID_TXN_STATE
    ticket = ask(log, 1)
    assert ticket is not None
    other = ask(log, 2)
    assert other is not None
    log.producers.give_up_verification(1, other)
    assert ask(log, 1) is ticket, "only its own"
    log.producers.give_up_verification(1, ticket)
    assert refusal(log, 0, ticket) == ErrorCode.INVALID_TXN_STATE
    log.producers.forget_verifications()
    assert ask(log, 2) is not other


def test_invented_producers_cannot_fill_the_memory() -> None:
    log = open_log()
    first = ask(log, 0)
    for producer_id in range(1, VERIFICATIONS_MAX + 1):
        last = ask(log, producer_id)
    assert ask(log, VERIFICATIONS_MAX) is last
    assert ask(log, 0) is not first


# --- sequences


def test_a_later_batch_does_not_overtake_one_that_could_not_be_verified() -> None:
    """A producer that is not known here would be accepted with any sequence."""
    log = open_log()
    ask(log, 1, 4)  # answered with an error, to be sent again
    ticket = ask(log, 1, 6)
    assert refusal(log, 6, ticket) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, 4, ticket, count=2)
    write(log, 6, None)


def test_the_lowest_sequence_is_that_of_the_newest_epoch() -> None:
    log = open_log()
    ask(log, 1, 0)
    ask(log, 1, 7, epoch=1)
    ticket = ask(log, 1, 0, epoch=0)
    write(log, 7, ticket, epoch=1)


def test_an_unknown_producer_of_the_second_generation_begins_with_sequence_0() -> None:
    """Every one of its transactions has an epoch of its own, so nothing before it can have been deleted."""
    log = open_log()
    ticket = ask(log, 1, 3, second=True)
    assert refusal(log, 3, ticket) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, 0, ask(log, 1, 0, second=True))
    assert refusal(log, 2, None) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, 1, None)


def test_an_unknown_producer_of_the_first_generation_may_begin_anywhere() -> None:
    log = open_log()
    write(log, 3, ask(log, 1, 3))


def test_after_a_marker_of_the_second_generation_the_next_epoch_begins_with_sequence_0() -> None:
    log = open_log()
    write(log, 0, ask(log, 1, second=True), count=3)
    end(log, epoch=1, version=2)
    assert refusal(log, 3, None, epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert refusal(log, 0, None, epoch=0) == ErrorCode.INVALID_PRODUCER_EPOCH, "no duplicate any more"
    ticket = ask(log, 1, 3, epoch=1, second=True)
    assert refusal(log, 3, ticket, epoch=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, 0, ask(log, 1, 0, epoch=1, second=True), epoch=1)


def test_after_a_marker_of_the_first_generation_the_sequence_goes_on() -> None:
    log = open_log()
    write(log, 0, ask(log, 1), count=3)
    end(log)
    assert refusal(log, 1, VERIFICATION_OFF) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refusal(log, 4, VERIFICATION_OFF) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, 3, ask(log, 1, 3))


def test_a_producer_known_by_its_marker_only_begins_with_sequence_0() -> None:
    log = open_log()
    end(log, epoch=2)
    ticket = ask(log, 1, 5, epoch=2)
    assert refusal(log, 5, ticket, epoch=2) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    write(log, 0, ask(log, 1, 0, epoch=2), epoch=2)


# --- markers


def test_a_marker_of_the_second_generation_has_a_newer_epoch_than_its_records() -> None:
    log = open_log()
    write(log, 0, ask(log, 1, epoch=4, second=True), epoch=4)
    assert end_refused(log, epoch=3, version=2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert end_refused(log, epoch=4, version=2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert log.producers.is_in_transaction(1, 4)
    end(log, epoch=5, version=2)
    assert not log.producers.has_open_transaction(1)


def test_a_marker_sent_again_is_accepted_unless_the_next_transaction_is_open() -> None:
    """After a lost answer, or a coordinator's restart: nothing is open that it could end by mistake."""
    log = open_log()
    write(log, 0, ask(log, 1, second=True))
    end(log, epoch=1, version=2)
    end(log, epoch=1, version=2)
    write(log, 0, ask(log, 1, epoch=1, second=True), epoch=1)
    assert end_refused(log, epoch=1, version=2) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert log.producers.is_in_transaction(1, 1)


@pytest.mark.parametrize("version", [0, 1])
def test_a_marker_of_the_first_generation_may_have_its_records_epoch(version: int) -> None:
    log = open_log()
    write(log, 0, ask(log, 1, epoch=4), epoch=4)
    assert end_refused(log, epoch=3, version=version) == ErrorCode.INVALID_PRODUCER_EPOCH
    end(log, epoch=4, version=version)


@pytest.mark.parametrize("version", [0, 2])
def test_a_marker_of_a_coordinator_that_was_replaced_is_refused(version: int) -> None:
    log = open_log()
    write(log, 0, ask(log, 1))
    end(log, epoch=1, version=version, coordinator_epoch=7)
    write(log, 0, ask(log, 1, epoch=1), epoch=1)
    code = end_refused(log, epoch=2, version=version, coordinator_epoch=6)
    assert code == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert log.producers.is_in_transaction(1, 1)
    end(log, epoch=2, version=version, coordinator_epoch=7)
