import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The application of an exactly-once run on Kafka's own clients: consumes `input`, transforms, produces to `output`, in transactions
 * that hold the offsets, too. Its order and what it tells are described in tests/chaos/exactly_once/ledger.py, what it does in
 * transform_app.py beside it. A transaction that was aborted is done again after the consumer was set back.
 */
public final class TransformApp implements ConsumerRebalanceListener {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);
    private static final String INPUT = "input";
    private static final String OUTPUT = "output";
    private static final int PARTITIONS = 4;
    private static final int FATAL_EXIT = 3;
    private static final long LINGER_MS = 50;
    private static final Map<String, String> ASSIGNORS = Map.of(
        "range", "org.apache.kafka.clients.consumer.RangeAssignor",
        "cooperative-sticky", "org.apache.kafka.clients.consumer.CooperativeStickyAssignor");

    private final JsonNode order;
    private final String name;
    private final Random chance;
    private final KafkaProducer<String, String> producer;
    private final KafkaConsumer<String, String> consumer;
    private final MessageDigest sha256;
    private List<ConsumerRecord<String, String>> batch = new ArrayList<>();
    private int count;
    private volatile boolean stopping;

    private TransformApp(JsonNode order) throws NoSuchAlgorithmException {
        this.order = order;
        this.name = order.get("name").asText();
        this.chance = new Random(order.get("seed").asLong());
        this.sha256 = MessageDigest.getInstance("SHA-256");
        sun.misc.Signal.handle(new sun.misc.Signal("TERM"), signal -> stopping = true);
        sun.misc.Signal.handle(new sun.misc.Signal("INT"), signal -> { });
        this.producer = new KafkaProducer<>(producerConfig());
        this.consumer = new KafkaConsumer<>(consumerConfig());
    }

    public static void main(String[] args) throws Exception {
        TransformApp app = new TransformApp(JSON.readTree(args[0]));
        try {
            app.run();
        } catch (KafkaException | IllegalStateException fatal) {
            app.tell("fatal", TextNode.valueOf(named(fatal)));
            Runtime.getRuntime().halt(FATAL_EXIT); // the clients are not closed: they may wait for what will never come
        }
        app.tell("closed", null);
    }

    private Properties producerConfig() {
        Properties config = new Properties();
        config.put("bootstrap.servers", order.get("bootstrap").asText());
        config.put("client.id", order.get("transactional_id").asText());
        config.put("transactional.id", order.get("transactional_id").asText());
        config.put("transaction.timeout.ms", order.get("timeout_ms").asText());
        config.put("linger.ms", "5");
        config.put("max.block.ms", "5000");
        config.put("request.timeout.ms", "5000");
        config.put("delivery.timeout.ms", "30000");
        config.put("reconnect.backoff.max.ms", "300");
        config.put("key.serializer", StringSerializer.class.getName());
        config.put("value.serializer", StringSerializer.class.getName());
        return config;
    }

    private Properties consumerConfig() {
        Properties config = new Properties();
        config.put("bootstrap.servers", order.get("bootstrap").asText());
        config.put("client.id", name);
        config.put("group.id", "transform");
        config.put("group.protocol", order.get("protocol").asText());
        config.put("isolation.level", "read_committed");
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        config.put("max.poll.records", "100");
        config.put("fetch.max.wait.ms", "100");
        config.put("reconnect.backoff.max.ms", "300");
        config.put("metadata.max.age.ms", "1000");
        config.put("key.deserializer", StringDeserializer.class.getName());
        config.put("value.deserializer", StringDeserializer.class.getName());
        if (order.hasNonNull("instance_id")) {
            config.put("group.instance.id", order.get("instance_id").asText());
        }
        if (order.get("protocol").asText().equals("classic")) {
            config.put("partition.assignment.strategy", ASSIGNORS.get(order.get("assignor").asText()));
            config.put("session.timeout.ms", order.get("session_ms").asText());
            config.put("heartbeat.interval.ms", order.get("heartbeat_ms").asText());
        }
        return config;
    }

    private void run() {
        retrying(producer::initTransactions);
        tell("ready", null);
        consumer.subscribe(List.of(INPUT), this);
        while (!stopping) {
            collect();
            if (!batch.isEmpty()) {
                transact();
            }
        }
        consumer.close();
        producer.close();
    }

    /** Polls until there is a transaction's worth of records, or no more for a moment. */
    private void collect() {
        int wanted = 1 + chance.nextInt(order.get("records_max").asInt());
        poll(100);
        long until = System.nanoTime() + LINGER_MS * 1_000_000;
        while (!batch.isEmpty() && batch.size() < wanted) {
            long leftMs = (until - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                return;
            }
            poll(leftMs);
        }
    }

    /**
     * The consumer of the newer protocol has a race of its own: when the leader epoch changes (the broker was killed), its background
     * thread sets a position back to be validated while poll() is about to move it, and poll() throws. Nothing was returned then and
     * the position has not moved, so polling again is right; a record lost by it would be noticed.
     */
    private void poll(long timeoutMs) {
        try {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(timeoutMs))) {
                batch.add(record);
            }
        } catch (IllegalStateException raced) {
            if (!String.valueOf(raced.getMessage()).startsWith("Cannot set a new position")) {
                throw raced;
            }
            tell("hiccup", TextNode.valueOf(raced.getMessage()));
        }
    }

    private void transact() {
        ConsumerGroupMetadata metadata = consumer.groupMetadata();
        count++;
        String transaction = name + "/" + count;
        boolean doomed = chance.nextDouble() < order.get("abort_share").asDouble();
        try {
            producer.beginTransaction();
            write(transaction, metadata, doomed);
            ArrayNode ending = JSON.createArrayNode().add(transaction).add(batch.size());
            tell("ending", ending.add(doomed ? "abort" : "commit"));
            if (doomed) {
                retrying(producer::abortTransaction);
                tell("aborted", JSON.createArrayNode().add(transaction).add("on purpose"));
                rewind();
            } else {
                retrying(producer::commitTransaction);
                tell("committed", JSON.createArrayNode().add(transaction).add(batch.size()));
                batch.clear();
            }
        } catch (ProducerFencedException | OutOfOrderSequenceException | AuthorizationException | FencedInstanceIdException
                | UnsupportedVersionException fatal) {
            throw fatal;
        } catch (KafkaException error) {
            retrying(producer::abortTransaction);
            tell("aborted", JSON.createArrayNode().add(transaction).add(named(error)));
            rewind();
        }
    }

    private void write(String transaction, ConsumerGroupMetadata metadata, boolean doomed) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (ConsumerRecord<String, String> record : batch) {
            int partition = Integer.parseInt(record.key().substring("key-".length())) / PARTITIONS % PARTITIONS;
            ProducerRecord<String, String> made = new ProducerRecord<>(OUTPUT, partition, record.key(), transformed(record.value()));
            made.headers().add("source", bytes(INPUT + "/" + record.partition() + "/" + record.offset()));
            made.headers().add("transaction", bytes(transaction));
            if (doomed) {
                made.headers().add("doomed", bytes("1"));
            }
            producer.send(made);
            offsets.put(new TopicPartition(INPUT, record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        if (doomed) {
            producer.flush(); // otherwise the abort would find records still in the client, and throw them away there
            if (chance.nextBoolean()) {
                return;
            }
        }
        retrying(() -> producer.sendOffsetsToTransaction(offsets, metadata));
    }

    /** A call that ran into its time limit may be made again; Kafka's documentation says that it has to be the same one. */
    private static void retrying(Runnable call) {
        while (true) {
            try {
                call.run();
                return;
            } catch (TimeoutException again) {
                // the broker is away
            }
        }
    }

    /** Sets the consumer back to where the batch began. */
    private void rewind() {
        Map<TopicPartition, Long> first = new HashMap<>();
        for (ConsumerRecord<String, String> record : batch) {
            first.putIfAbsent(new TopicPartition(INPUT, record.partition()), record.offset());
        }
        batch.clear();
        first.forEach((partition, offset) -> {
            if (consumer.assignment().contains(partition)) {
                consumer.seek(partition, offset);
            }
        });
    }

    private String transformed(String value) {
        String digest = HexFormat.of().formatHex(sha256.digest(bytes(value))).substring(0, 16);
        return value.toUpperCase(Locale.ROOT) + " " + digest;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        tell("assigned", numbers(partitions));
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        gone("revoked", partitions);
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        gone("lost", partitions);
    }

    private void gone(String kind, Collection<TopicPartition> partitions) {
        batch.removeIf(record -> partitions.contains(new TopicPartition(record.topic(), record.partition())));
        tell(kind, numbers(partitions));
    }

    private static ArrayNode numbers(Collection<TopicPartition> partitions) {
        ArrayNode out = JSON.createArrayNode();
        partitions.stream().map(TopicPartition::partition).sorted().forEach(out::add);
        return out;
    }

    /** The error that Kafka has a name for, where it is that one or has it for a cause. */
    private static String named(Throwable error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (Errors.forException(each) != Errors.UNKNOWN_SERVER_ERROR) {
                return Errors.forException(each).name() + ": " + error;
            }
        }
        return error.getClass().getSimpleName() + ": " + error;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void tell(String kind, JsonNode data) {
        ArrayNode line = JSON.createArrayNode().add(kind).add(System.nanoTime() / 1e9);
        if (data != null) {
            line.add(data);
        }
        try {
            OUT.write(bytes(JSON.writeValueAsString(line) + "\n"));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
