import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * Follows `output` as it grows, read_committed, and writes down every record it is given; after a kill it goes on behind the last
 * whole line of its file. See tests/chaos/exactly_once/follower.py, which does the same, and records.py for the line's form.
 */
public final class OutputFollower {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OUTPUT = "output";
    private static final int PARTITIONS = 4;
    private static final int FATAL_EXIT = 3;
    private static volatile boolean stopping;

    private OutputFollower() {
    }

    public static void main(String[] args) throws Exception {
        JsonNode order = JSON.readTree(args[0]);
        sun.misc.Signal.handle(new sun.misc.Signal("TERM"), signal -> stopping = true);
        sun.misc.Signal.handle(new sun.misc.Signal("INT"), signal -> { });
        Path path = Path.of(order.get("file").asText());
        long[] offsets = nextOffsets(path);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config(order));
                FileOutputStream out = new FileOutputStream(path.toFile(), true)) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                partitions.add(new TopicPartition(OUTPUT, partition));
            }
            consumer.assign(partitions);
            partitions.forEach(each -> consumer.seek(each, offsets[each.partition()]));
            tell("ready", "null");
            while (!stopping) {
                StringBuilder lines = new StringBuilder();
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    lines.append(record.partition()).append('\t').append(record.offset()).append('\t').append(record.key())
                        .append('\t').append(record.value()).append('\t').append(header(record, "source"))
                        .append('\t').append(header(record, "transaction"))
                        .append('\t').append(header(record, "doomed")).append('\n');
                }
                if (lines.length() > 0) {
                    out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
                }
            }
        } catch (KafkaException fatal) {
            tell("fatal", JSON.writeValueAsString(fatal.toString()));
            Runtime.getRuntime().halt(FATAL_EXIT);
        }
        tell("closed", "null");
    }

    private static Properties config(JsonNode order) {
        Properties config = new Properties();
        config.put("bootstrap.servers", order.get("bootstrap").asText());
        config.put("client.id", order.get("name").asText());
        config.put("isolation.level", "read_committed");
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "none");
        config.put("fetch.max.wait.ms", "100");
        config.put("reconnect.backoff.max.ms", "300");
        config.put("metadata.max.age.ms", "1000");
        config.put("key.deserializer", StringDeserializer.class.getName());
        config.put("value.deserializer", StringDeserializer.class.getName());
        return config;
    }

    /** Cuts a torn line off, and returns where each partition goes on. */
    private static long[] nextOffsets(Path path) throws IOException {
        long[] offsets = new long[PARTITIONS];
        if (!Files.exists(path)) {
            return offsets;
        }
        String text = Files.readString(path, StandardCharsets.ISO_8859_1);
        int whole = text.lastIndexOf('\n') + 1;
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(whole);
        }
        text.substring(0, whole).lines().forEach(line -> {
            String[] fields = line.split("\t", 3);
            offsets[Integer.parseInt(fields[0])] = Long.parseLong(fields[1]) + 1;
        });
        return offsets;
    }

    private static String header(ConsumerRecord<String, String> record, String name) {
        Header found = record.headers().lastHeader(name);
        return found == null ? "" : new String(found.value(), StandardCharsets.UTF_8);
    }

    private static void tell(String kind, String data) {
        System.out.println("[\"" + kind + "\"," + System.nanoTime() / 1e9 + "," + data + "]");
        System.out.flush();
    }
}
