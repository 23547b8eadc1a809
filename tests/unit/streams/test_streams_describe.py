"""describe(): golden texts in the form of Kafka's TopologyDescription."""

from __future__ import annotations

import textwrap

from ottla.streams import (
    JoinWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
    avg_of,
    count_of,
    json,
    left,
    right,
    struct,
    value,
)


def wordcount() -> StreamsBuilder:
    builder = StreamsBuilder()
    (
        builder.stream("quickstart-events")
        .flat_map_values(lambda line: line.lower().split(" "))
        .group_by(lambda key, word: word)
        .count()
        .to_stream()
        .to("output-topic", value_serde="long")
    )
    return builder


def test_wordcount_is_one_query() -> None:
    assert wordcount().describe("wordcount") == textwrap.dedent(
        """\
        Topologies:
           Sub-topology: 0 (stateful query KSTREAM-AGGREGATE-0000000003)
            Source: KSTREAM-SOURCE-0000000000 (topics: [quickstart-events])
              --> KSTREAM-FLATMAPVALUES-0000000001
              key: string as 'string', value: string as 'string'
            Processor: KSTREAM-FLATMAPVALUES-0000000001 (stores: [])
              --> KSTREAM-KEY-SELECT-0000000002
              <-- KSTREAM-SOURCE-0000000000
              flat_map_values by lambda
              key: string, value: Python object
            Processor: KSTREAM-KEY-SELECT-0000000002 (stores: [])
              --> KSTREAM-AGGREGATE-0000000003
              <-- KSTREAM-FLATMAPVALUES-0000000001
              select_key by lambda
              key: Python object, value: Python object
            Processor: KSTREAM-AGGREGATE-0000000003 (stores: [KSTREAM-AGGREGATE-0000000003-store])
              --> KTABLE-TOSTREAM-0000000004
              <-- KSTREAM-KEY-SELECT-0000000002
              count
              key: Python object, value: bigint
            Processor: KTABLE-TOSTREAM-0000000004 (stores: [])
              --> KSTREAM-SINK-0000000005
              <-- KSTREAM-AGGREGATE-0000000003
              to stream
              key: Python object, value: bigint
            Sink: KSTREAM-SINK-0000000005 (topic: output-topic)
              <-- KTABLE-TOSTREAM-0000000004
              key: Python object as 'natural', value: bigint as 'long'
        """
    )


def test_stages_internal_topics_and_windows_are_shown() -> None:
    builder = StreamsBuilder()
    flights = builder.stream("flights", value_serde=json("airport string, delay int"), name="flights")
    delays = (
        flights.filter(value["delay"].is_not_null(), name="known")
        .group_by(value["airport"], name="by-airport")
        .windowed_by(TimeWindows.of_size_and_grace(60_000, 5_000).advance_by(30_000))
        .aggregate(struct(n=count_of(), mean=avg_of(value["delay"])), name="delays")
        .suppress(Suppressed.until_window_closes(), name="final")
    )
    airports = builder.table("airports", name="airports")
    plain = delays.to_stream(lambda windowed, stats: windowed.key, returns="string")
    plain.join(airports, struct(stats=left, airport=right), name="named").to("delays", name="out")
    assert builder.describe("app") == textwrap.dedent(
        """\
        Topologies:
           Sub-topology: 0 (stateful query final)
            Source: flights (topics: [flights])
              --> known
              key: string as 'string', value: struct<airport:string,delay:int> as 'json'
            Processor: known (stores: [])
              --> by-airport
              <-- flights
              filter: (NOT (value['delay'] IS NULL))
              key: string, value: struct<airport:string,delay:int>
            Processor: by-airport (stores: [])
              --> final
              <-- known
              select_key: key value['airport']
              key: string, value: struct<airport:string,delay:int>
            Processor: final (stores: [final-store])
              --> KTABLE-TOSTREAM-0000000006
              <-- by-airport
              named_struct('n', count(*), 'mean', avg(value['delay'])) over hopping windows of 60000 ms every 30000 ms, grace 5000 ms, when the window closes
              key: windowed string, value: struct<n:bigint,mean:double>
            Processor: KTABLE-TOSTREAM-0000000006 (stores: [])
              --> KSTREAM-KEY-SELECT-0000000007
              <-- final
              to stream
              key: windowed string, value: struct<n:bigint,mean:double>
            Processor: KSTREAM-KEY-SELECT-0000000007 (stores: [])
              --> KSTREAM-KEY-SELECT-0000000007-sink
              <-- KTABLE-TOSTREAM-0000000006
              select_key by lambda
              key: string, value: struct<n:bigint,mean:double>
            Sink: KSTREAM-KEY-SELECT-0000000007-sink (topic: app-KSTREAM-KEY-SELECT-0000000007-repartition)
              <-- KSTREAM-KEY-SELECT-0000000007
              key: string as 'string', value: struct<n:bigint,mean:double> as 'json'

           Sub-topology: 1 (stateful query named)
            Source: KSTREAM-KEY-SELECT-0000000007-source (topics: [app-KSTREAM-KEY-SELECT-0000000007-repartition])
              --> named
              key: string as 'string', value: struct<n:bigint,mean:double> as 'json'
            Source: airports (topics: [airports])
              --> named
              key: string as 'string', value: string as 'string'
            Processor: named (stores: [named-store])
              --> out
              <-- KSTREAM-KEY-SELECT-0000000007-source, airports
              inner join by named_struct('stats', left_value, 'airport', right_value)
              key: string, value: struct<stats:struct<n:bigint,mean:double>,airport:string>
            Sink: out (topic: delays)
              <-- named
              key: string as 'string', value: struct<stats:struct<n:bigint,mean:double>,airport:string> as 'json'

        Internal topics:
            app-KSTREAM-KEY-SELECT-0000000007-repartition (partitions: as upstream, cleanup.policy: delete)
        """  # noqa: E501
    )


def test_the_text_is_the_same_each_time_and_shows_no_addresses() -> None:
    assert wordcount().describe() == wordcount().describe()
    assert "0x" not in wordcount().describe()


def named_predicate(key: str, value: str) -> bool:
    return True


def test_every_kind_of_node_says_what_it_does() -> None:
    builder = StreamsBuilder()
    stream, table = builder.stream("a"), builder.table("t")
    within = JoinWindows.of_time_difference_and_grace(1_000, 50).after(0)
    stream.filter(named_predicate).left_join(stream, lambda a, b: a, within).to("b")
    branches = stream.split().branch(value == "x", "x").branch(named_predicate).default_branch()
    branches["x"].for_each(print)
    branches["0"].to(lambda k, v: v)
    table.group_by(lambda k, v: (v, k)).reduce(max, min).to_stream().to("c")
    table.suppress(Suppressed.until_time_limit(500)).to_stream().to("d")
    table.left_join(table, max, foreign_key=lambda v: v).to_stream().to("e")
    stream.join(builder.global_table("g"), max, selector=lambda k, v: v).to("f")
    text = builder.describe()
    for said in (
        "filter by named_predicate",
        "left join by lambda, from 1000 ms before to 0 ms after, grace 50 ms",
        "where (value = 'x') is the first of 2",
        "where none of (value = 'x'), named_predicate",
        "for_each by print",
        "(extractor class: lambda)",
        "group by lambda",
        "reduce by max",
        "suppress for 500 ms",
        "left join by max, foreign key by lambda",
        "Global source: GLOBALKTABLE-SOURCE-",
        "inner join by max, key by lambda",
        "cleanup.policy: delete",
    ):
        assert said in text
