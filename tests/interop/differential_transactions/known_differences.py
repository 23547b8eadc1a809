"""Where the answers of Ottla and of Kafka 4.2.1 differ on purpose, and why.

What concerns the coordinator's decisions is in `docs/decisions/0007`; the rest is here.
"""

from __future__ import annotations

from collections.abc import Sequence

from interop.differential_transactions.steps import Step
from interop.differential_transactions.system import STUCK, Answer


def reason_for(
    step: Step, ours: Answer, kafkas: Answer, earlier: Sequence[tuple[Step, Answer]]
) -> str | None:
    """Why this difference is none to worry about; None when it is one. The sequence ends here either way:
    from now on the two are in different states. `earlier` has the steps and answers before it.
    """
    args = step.args
    if kafkas["answer"] == STUCK and ours["answer"] != STUCK:
        return (
            "a partition that knows a newer epoch of the producer (an administrator's marker) needs no "
            "marker; in Kafka the transaction is never complete"
        )
    if step.kind == "produce":
        if args["whose"] == "none":
            return "a transactional batch without a producer is refused; Kafka appends it"
        if args["acks"] == 2:
            return "acks are looked at first; Kafka asks the coordinator before, and may add the partition"
        is_outside = not args["transactional"] or args["mixed"]
        if is_outside and (args["acks"] == 0 or _is_late_only_in_kafka(ours, kafkas)):
            return (
                "a batch outside of transactions may follow a refused one inside; Kafka compares its "
                "sequence with the lowest one that was refused"
            )
        if _is_late_only_in_kafka(ours, kafkas) and any(
            before.kind == "produce" and "INVALID_PRODUCER_ID_MAPPING" in _codes(answers)
            for before, answers in earlier
        ):
            return (
                "the sequence of a producer that its coordinator does not know is not remembered, since "
                "anybody can invent those; Kafka refuses what is above it later"
            )
        if _is_late_only_in_kafka(ours, kafkas) and args["sequence"] == "next":
            return (
                "a batch that follows the producer's last one is not late; Kafka compares it with the lowest "
                "sequence that it was asked for since, a duplicate's too"
            )
    if step.kind == "commit_offsets" and args["epoch"] < 0 and _has_error(ours, "INVALID_PRODUCER_EPOCH"):
        return "an epoch below 0 is refused without asking the coordinator, whoever has it"
    if step.kind == "fetch" and _aborted_above_the_end(ours["answer"], kafkas["answer"]):
        return (
            "aborted transactions that begin at or after the last stable offset, where the answer ends, are "
            "not listed; Kafka lists what the segment's index entry covers"
        )
    return None


def _aborted_above_the_end(ours: Answer, kafkas: Answer) -> bool:
    more = [each for each in kafkas["aborted_transactions"] or () if each not in ours["aborted_transactions"]]
    return bool(more) and (
        all(each["first_offset"] >= ours["last_stable_offset"] for each in more)
        and {**ours, "aborted_transactions": None} == {**kafkas, "aborted_transactions": None}
    )


def _has_error(answers: Answer, code: str) -> bool:
    topics = answers["answer"]["topics"]
    return any(part["error_code"] == code for topic in topics for part in topic["partitions"])


def _is_late_only_in_kafka(ours: Answer, kafkas: Answer) -> bool:
    pairs = zip(_codes(ours), _codes(kafkas), strict=False)
    return ("NONE", "OUT_OF_ORDER_SEQUENCE_NUMBER") in pairs


def _codes(answers: Answer) -> list[str]:
    answer = answers["answer"]
    if answer in ("closed", "silence"):
        return []
    return [part["error_code"] for topic in answer["responses"] for part in topic["partition_responses"]]
