import org.apache.kafka.common.serialization.*;
import org.apache.kafka.streams.*;
import org.apache.kafka.streams.kstream.*;
import org.apache.kafka.streams.test.TestRecord;
import java.io.*;
import java.time.Duration;
import java.util.*;

/**
 * Runs the topologies of test_streams_transcripts.py in Apache Kafka Streams' own TopologyTestDriver, to make transcripts.json.
 *
 * Needs kafka-streams and kafka-streams-test-utils (4.2.1) with what they depend on. Standard input is, for each case, the name of
 * a topology, one line "topic TAB key TAB value TAB timestamp" per record (~ is null), and END. Standard output is, for each record,
 * the results "key TAB value TAB timestamp" that it had, then --; END after each case.
 *
 * State is in memory, and left and outer joins look for closed windows at each record: without that, when they do depends on the clock.
 */
public class Transcripts {
    static Duration ms(long n) { return Duration.ofMillis(n); }
    static <V> void out(KStream<String, V> s) { s.map((k, v) -> KeyValue.pair(k, v == null ? null : String.valueOf(v))).to("out", Produced.with(Serdes.String(), Serdes.String())); }
    static <V> void outW(KTable<Windowed<String>, V> t) {
        t.toStream().map((k, v) -> KeyValue.pair(k.key() + "@" + k.window().start() + "/" + k.window().end(), v == null ? null : String.valueOf(v))).to("out", Produced.with(Serdes.String(), Serdes.String()));
    }
    static Topology make(String name) {
        StreamsBuilder b = new StreamsBuilder();
        Consumed<String, String> c = Consumed.with(Serdes.String(), Serdes.String());
        Grouped<String, String> g = Grouped.with(Serdes.String(), Serdes.String());
        Materialized<String, String, org.apache.kafka.streams.state.KeyValueStore<org.apache.kafka.common.utils.Bytes, byte[]>> m = Materialized.with(Serdes.String(), Serdes.String());
        Initializer<String> init = () -> "";
        Aggregator<String, String, String> add = (k, v, a) -> a + v;
        Aggregator<String, String, String> sub = (k, v, a) -> a + "-" + v;
        StreamJoined<String, String, String> sj = StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String());
        ValueJoiner<String, String, String> j = (l, r) -> l + "+" + r;
        switch (name) {
            case "aggregate": out(b.stream("a", c).groupByKey(g).aggregate(init, add, m).toStream()); break;
            case "reduce": out(b.stream("a", c).groupByKey(g).reduce((x, y) -> x + y, m).toStream()); break;
            case "tumbling": outW(b.stream("a", c).groupByKey(g).windowedBy(TimeWindows.ofSizeAndGrace(ms(10), ms(5))).aggregate(init, add, Materialized.with(Serdes.String(), Serdes.String()))); break;
            case "hopping": outW(b.stream("a", c).groupByKey(g).windowedBy(TimeWindows.ofSizeAndGrace(ms(10), ms(3)).advanceBy(ms(4))).aggregate(init, add, Materialized.with(Serdes.String(), Serdes.String()))); break;
            case "sliding": outW(b.stream("a", c).groupByKey(g).windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(ms(10), ms(8))).aggregate(init, add, Materialized.with(Serdes.String(), Serdes.String()))); break;
            case "sessions": outW(b.stream("a", c).groupByKey(g).windowedBy(SessionWindows.ofInactivityGapAndGrace(ms(5), ms(6))).aggregate(init, add, (k, x, y) -> x + "&" + y, Materialized.with(Serdes.String(), Serdes.String()))); break;
            case "final_tumbling": outW(b.stream("a", c).groupByKey(g).windowedBy(TimeWindows.ofSizeAndGrace(ms(10), ms(5))).aggregate(init, add, Materialized.with(Serdes.String(), Serdes.String())).suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))); break;
            case "final_sessions": outW(b.stream("a", c).groupByKey(g).windowedBy(SessionWindows.ofInactivityGapAndGrace(ms(5), ms(6))).emitStrategy(EmitStrategy.onWindowClose()).aggregate(init, add, (k, x, y) -> x + "&" + y, Materialized.with(Serdes.String(), Serdes.String()))); break;
            case "final_sliding": outW(b.stream("a", c).groupByKey(g).windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(ms(10), ms(8))).emitStrategy(EmitStrategy.onWindowClose()).aggregate(init, add, Materialized.with(Serdes.String(), Serdes.String()))); break;
            case "time_limit": out(b.table("a", c, m).suppress(Suppressed.untilTimeLimit(ms(5), Suppressed.BufferConfig.unbounded())).toStream()); break;
            case "stream_inner": out(b.stream("a", c).join(b.stream("b", c), j, JoinWindows.ofTimeDifferenceAndGrace(ms(5), ms(3)), sj)); break;
            case "stream_left": out(b.stream("a", c).leftJoin(b.stream("b", c), j, JoinWindows.ofTimeDifferenceAndGrace(ms(5), ms(3)), sj)); break;
            case "stream_outer": out(b.stream("a", c).outerJoin(b.stream("b", c), j, JoinWindows.ofTimeDifferenceAndGrace(ms(5), ms(3)), sj)); break;
            case "stream_table": out(b.stream("a", c).join(b.table("b", c, m), j, Joined.with(Serdes.String(), Serdes.String(), Serdes.String()))); break;
            case "stream_table_left": out(b.stream("a", c).leftJoin(b.table("b", c, m), j, Joined.with(Serdes.String(), Serdes.String(), Serdes.String()))); break;
            case "table_inner": out(b.table("a", c, m).join(b.table("b", c, m), j).toStream()); break;
            case "table_left": out(b.table("a", c, m).leftJoin(b.table("b", c, m), j).toStream()); break;
            case "table_outer": out(b.table("a", c, m).outerJoin(b.table("b", c, m), j).toStream()); break;
            case "table_filter": out(b.table("a", c, m).filter((k, v) -> !v.equals("x")).mapValues(v -> v + "!").toStream()); break;
            case "foreign_inner": out(b.table("a", c, m).join(b.table("b", c, m), (String v) -> v, j, m).toStream()); break;
            case "foreign_left": out(b.table("a", c, m).leftJoin(b.table("b", c, m), (String v) -> v, j, m).toStream()); break;
            case "table_group": out(b.table("a", c, m).groupBy((k, v) -> KeyValue.pair(v, k), g).aggregate(init, add, sub, m).toStream()); break;
            case "table_count": out(b.table("a", c, m).groupBy((k, v) -> KeyValue.pair(v, k), g).count().toStream()); break;
            case "global_inner": out(b.stream("a", c).join(b.globalTable("b", c), (k, v) -> v, j)); break;
            case "global_left": out(b.stream("a", c).leftJoin(b.globalTable("b", c), (k, v) -> v, j)); break;
            case "cogroup": { KGroupedStream<String, String> one = b.stream("a", c).groupByKey(g); KGroupedStream<String, String> two = b.stream("b", c).groupByKey(g);
                out(one.cogroup(add).cogroup(two, (k, v, a) -> a + "(" + v + ")").aggregate(init, m).toStream()); break; }
            default: throw new IllegalArgumentException(name);
        }
        return b.build();
    }
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        PrintStream o = new PrintStream(new FileOutputStream(FileDescriptor.out), false);
        String line; 
        while ((line = in.readLine()) != null) {
            String topo = line;
            Properties p = new Properties();
            p.put("application.id", "x"); p.put("bootstrap.servers", "x:1");
            p.put("statestore.cache.max.bytes", 0);
            p.put("__emit.interval.ms.kstreams.outer.join.spurious.results.fix__", 0L);
            p.put("__emit.interval.ms.kstreams.windowed.aggregation__", 0L);
            p.put("dsl.store.suppliers.class", "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"); p.put("state.dir", System.getProperty("java.io.tmpdir"));
            try (TopologyTestDriver d = new TopologyTestDriver(make(topo), p)) {
                Map<String, TestInputTopic<String, String>> ins = new HashMap<>();
                TestOutputTopic<String, String> res = d.createOutputTopic("out", new StringDeserializer(), new StringDeserializer());
                while (!(line = in.readLine()).equals("END")) {
                    String[] f = line.split("\t");
                    TestInputTopic<String, String> t = ins.computeIfAbsent(f[0], n -> d.createInputTopic(n, new StringSerializer(), new StringSerializer()));
                    try { t.pipeInput(f[1].equals("~") ? null : f[1], f[2].equals("~") ? null : f[2], Long.parseLong(f[3])); } catch (IllegalArgumentException e) { o.println("!" + e.getMessage()); }
                    for (TestRecord<String, String> r : res.readRecordsToList()) o.println(r.key() + "\t" + r.value() + "\t" + r.timestamp());
                    o.println("--");
                }
            }
            o.println("END"); o.flush();
        }
    }
}
