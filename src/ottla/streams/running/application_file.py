"""The description beside an application's checkpoints: whose they are, and what program they were made by.

State can only be taken up by the program that left it: a checkpoint that is given to another application,
or to a program that has changed what its state means, would not fail but compute nonsense. So
`ottla-application.json` in the checkpoint's folder says what each stage reads and keeps. Functions between
may change; what is compared is written in words, since it is shown to who gets refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ottla.streams import plan
from ottla.streams.running.failures import ForeignCheckpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILE: Final = "ottla-application.json"


def description(application_id: str, stages: Sequence[plan.Stage]) -> dict[str, Any]:
    """What has to stay the same for the checkpoint to be of use."""
    return {"application_id": application_id, "stages": {stage.name: stage_words(stage) for stage in stages}}


def stage_words(stage: plan.Stage) -> str:
    """What a stage reads and keeps, in a line."""
    sources = [node for node in plan.Topology(ends=stage.ends).nodes() if isinstance(node, plan.Source)]
    read = sorted(
        {topic for node in sources for topic in node.topics}
        | {node.pattern for node in sources if node.pattern}
    )
    words = f"reads {', '.join(read)}"
    node = stage.stateful
    if node is None:
        return words
    kept = f"{type(node).__name__} of {node.key_type} to {node.value_type}"
    if isinstance(node, plan.Aggregate):
        kinds = ", ".join(aggregation.kind for aggregation in node.aggregations)
        kept = f"{kept} by {kinds}" + ("" if node.windows is None else f" over {node.windows}")
    elif isinstance(node, plan.StreamJoin):
        kept = f"{kept} within {node.windows}"
    return f"{words}; keeps {kept}"


def check(spark: SparkSession, checkpoint: str, application_id: str, stages: Sequence[plan.Stage]) -> None:
    """Refuses another's checkpoint; a new one becomes this application's."""
    from ottla.streams.running.files import Files

    files = Files(spark, checkpoint)
    wanted = description(application_id, stages)
    text = files.read(FILE)
    if text is None:
        if files.has_folders():
            raise ForeignCheckpoint(
                f"the checkpoint {checkpoint} has files of something else in it, and no {FILE}: give the "
                f"application {application_id} a folder of its own"
            )
        try:
            files.write(FILE, json.dumps(wanted, indent=1))
        except FileExistsError as error:
            raise ForeignCheckpoint(
                f"the checkpoint {checkpoint} is being taken by another start at this moment ({error}): give "
                "each application a folder of its own, and run it once"
            ) from None
        return
    problem = difference(json.loads(text), wanted)
    if problem is not None:
        raise ForeignCheckpoint(
            f"the checkpoint {checkpoint} cannot be taken up: {problem}. Give this program a checkpoint "
            f"(and, for topics of its own between its stages, an application_id) that is not used yet: it "
            f"then begins anew"
        )


def difference(found: dict[str, Any], wanted: dict[str, Any]) -> str | None:
    """Why a checkpoint with this description is none for that program; None when it is."""
    if found.get("application_id") != wanted["application_id"]:
        return (
            f"it belongs to the application {found.get('application_id')!r}, not to "
            f"{wanted['application_id']!r}"
        )
    before, now = found.get("stages", {}), wanted["stages"]
    for name in sorted({*before, *now}):
        if name not in now:
            return f"it has state of a stage {name} ({before[name]}), which the program no longer has"
        if name not in before:
            return (
                f"the program has a stage {name} ({now[name]}), which it had not when the checkpoint was made"
            )
        if before[name] != now[name]:
            return f"stage {name} was another one: then it {before[name]}; now it {now[name]}"
    return None
