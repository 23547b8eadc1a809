import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A group member on Kafka's Java consumer. What it tells is described in tests/support/group_members/ledger.py. */
public final class GroupMember implements ConsumerRebalanceListener {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);
    private static final Map<String, String> ASSIGNORS = Map.of(
        "range", "org.apache.kafka.clients.consumer.RangeAssignor",
        "roundrobin", "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        "sticky", "org.apache.kafka.clients.consumer.StickyAssignor",
        "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");

    private final JsonNode spec;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Map<TopicPartition, Long> owed = new LinkedHashMap<>();
    private final Random chance = new Random();
    private volatile boolean stopping;

    private GroupMember(JsonNode spec) {
        this.spec = spec;
        this.consumer = new KafkaConsumer<>(config(spec));
        sun.misc.Signal.handle(new sun.misc.Signal("TERM"), signal -> stopping = true);
    }

    public static void main(String[] args) throws Exception {
        GroupMember member = new GroupMember(JSON.readTree(args[0]));
        try {
            member.run();
        } catch (KafkaException fatal) {
            member.tell("fatal", JSON.getNodeFactory().textNode(Errors.forException(fatal).name() + ": " + fatal));
            System.exit(3);
        }
    }

    private static Properties config(JsonNode spec) {
        Properties config = new Properties();
        config.put("bootstrap.servers", spec.get("bootstrap").asText());
        config.put("group.id", spec.get("group").asText());
        config.put("client.id", spec.get("name").asText());
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        config.put("allow.auto.create.topics", "false");
        config.put("key.deserializer", ByteArrayDeserializer.class.getName());
        config.put("value.deserializer", ByteArrayDeserializer.class.getName());
        config.put("max.poll.records", spec.get("max_poll_records").asText());
        config.put("fetch.max.wait.ms", "100");
        config.put("reconnect.backoff.max.ms", "500");
        config.put("metadata.max.age.ms", "1000");
        config.put("default.api.timeout.ms", "20000");
        config.put("group.protocol", spec.get("protocol").asText());
        if (spec.hasNonNull("instance_id")) {
            config.put("group.instance.id", spec.get("instance_id").asText());
        }
        if (!spec.get("protocol").asText().equals("consumer")) {
            List<String> assignors = new ArrayList<>();
            spec.get("assignors").forEach(each -> assignors.add(ASSIGNORS.get(each.asText())));
            config.put("partition.assignment.strategy", String.join(",", assignors));
            config.put("session.timeout.ms", spec.get("session_ms").asText());
            config.put("heartbeat.interval.ms", spec.get("heartbeat_ms").asText());
        } else if (spec.hasNonNull("remote_assignor")) {
            config.put("group.remote.assignor", spec.get("remote_assignor").asText());
        }
        return config;
    }

    private void run() throws Exception {
        if (spec.hasNonNull("pattern")) {
            consumer.subscribe(new SubscriptionPattern(spec.get("pattern").asText()), this);
        } else {
            consumer.subscribe(List.of(spec.get("topic").asText()), this);
        }
        tell("ready", null);
        while (!stopping) {
            process(poll());
            settle();
        }
        settle();
        tell("closing", null);
        consumer.close();
        tell("closed", null);
    }

    /**
     * Polls. The consumer of the newer protocol has a race of its own: when the leader epoch changes (the broker was killed), its
     * background thread sets a position back to be validated while poll() is about to move it, and poll() throws. Nothing was
     * returned then and the position has not moved, so polling again is right; a record lost by it would be noticed.
     */
    private Iterable<ConsumerRecord<byte[], byte[]>> poll() {
        try {
            return consumer.poll(Duration.ofMillis(100));
        } catch (IllegalStateException raced) {
            if (!String.valueOf(raced.getMessage()).startsWith("Cannot set a new position")) {
                throw raced;
            }
            tell("hiccup", JSON.getNodeFactory().textNode(raced.getMessage()));
            return List.of();
        }
    }

    private void process(Iterable<ConsumerRecord<byte[], byte[]>> records) throws Exception {
        ArrayNode runs = JSON.createArrayNode();
        Map<TopicPartition, ArrayNode> last = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            TopicPartition partition = new TopicPartition(record.topic(), record.partition());
            String value = new String(record.value(), StandardCharsets.UTF_8);
            if (!value.equals(Long.toString(record.offset()))) {
                tell("fatal", JSON.getNodeFactory().textNode("offset " + record.offset() + " of " + partition + " holds " + value));
                System.exit(4);
            }
            ArrayNode run = last.get(partition);
            if (run != null && run.get(2).asLong() + 1 == record.offset()) {
                run.set(2, JSON.getNodeFactory().numberNode(record.offset()));
            } else {
                run = runs.addArray();
                label(run, partition);
                run.add(record.offset()).add(record.offset());
                last.put(partition, run);
            }
            owed.put(partition, record.offset() + 1);
        }
        if (!runs.isEmpty()) {
            tell("batch", runs);
            int workMs = spec.get("work_ms").asInt();
            if (workMs > 0) {
                Thread.sleep(chance.nextInt(workMs));
            }
        }
    }

    /** Commits what is owed. */
    private void settle() {
        if (owed.isEmpty()) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        ArrayNode pairs = JSON.createArrayNode();
        owed.forEach((partition, offset) -> {
            offsets.put(partition, new OffsetAndMetadata(offset));
            label(pairs.addArray(), partition).add(offset);
        });
        tell("trying", pairs);
        try {
            consumer.commitSync(offsets);
            tell("committed", pairs);
            owed.clear();
        } catch (FencedInstanceIdException fenced) {
            throw fenced;
        } catch (RuntimeException error) {
            tell("refused", JSON.getNodeFactory().textNode(error.toString()));
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        tell("assigned", labels(partitions));
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        if (!stopping) {
            settle();
        }
        partitions.forEach(owed::remove);
        tell("revoked", labels(partitions));
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        partitions.forEach(owed::remove);
        tell("lost", labels(partitions));
    }

    private ArrayNode labels(Collection<TopicPartition> partitions) {
        ArrayNode out = JSON.createArrayNode();
        partitions.stream().sorted(java.util.Comparator.comparing(TopicPartition::toString)).forEach(each -> label(out, each));
        return out;
    }

    private ArrayNode label(ArrayNode out, TopicPartition partition) {
        boolean known = partition.topic().equals(spec.path("topic").asText(null));
        return known ? out.add(partition.partition()) : out.add(partition.toString());
    }

    private void tell(String kind, JsonNode data) {
        ArrayNode line = JSON.createArrayNode().add(kind).add(System.nanoTime() / 1e9);
        if (data != null) {
            line.add(data);
        }
        try {
            OUT.write((JSON.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }
}
