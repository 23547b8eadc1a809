"""How late flights left, by the day and by the airport they went to: a streams program.

    ottla streams run examples/flights/delays.py

A day takes in flights that were reported up to 30 days late; what comes later than that is left out. Each
result, and each change of it, goes to the topic "delays" with the airport's name, which is looked up in the
table of airports. All of it is written as expressions, so that it runs in Spark's JVM.
"""

from __future__ import annotations

from datetime import timedelta

from ottla.streams import (
    StreamsBuilder,
    TimeWindows,
    avg_of,
    concat,
    count_of,
    json,
    key,
    left,
    right,
    struct,
    value,
    window_start,
)

builder = StreamsBuilder()
airports = builder.global_table("airports", value_serde=json("name string"))

day = window_start.cast("date").cast("string")
by_day = (
    builder.stream("flights", value_serde=json("dest string, dep_delay int"))
    .filter(value["dep_delay"].is_not_null())
    .group_by(value["dest"])
    .windowed_by(TimeWindows.of_size_and_grace(timedelta(days=1), timedelta(days=30)))
    .aggregate(struct(flights=count_of(), delay=avg_of(value["dep_delay"])))
)
(
    by_day.to_stream()
    .map(
        key=concat(key, " ", day),
        value=struct(dest=key, day=day, flights=value["flights"], delay=value["delay"]),
    )
    .left_join(
        airports,
        struct(
            airport=right["name"],
            dest=left["dest"],
            day=left["day"],
            flights=left["flights"],
            delay=left["delay"],
        ),
        selector=value["dest"],
    )
    .to("delays")
)
