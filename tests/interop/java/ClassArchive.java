import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Exit;

/**
 * Loads what the other programs here load, without a broker. A JVM that runs it with -XX:ArchiveClassesAtExit leaves an archive
 * behind, from which the JVMs of the tests take these classes ready for use.
 */
public final class ClassArchive {
    private static final Map<String, Object> NOBODY = Map.of("bootstrap.servers", "127.0.0.1:1");
    private static final Duration SOON = Duration.ofMillis(200);

    public static void main(String[] args) throws Exception {
        new ObjectMapper().readTree("{\"a\": [1, \"b\", null]}").toString();
        try (Admin admin = Admin.create(NOBODY)) {
            admin.listTopics();
            admin.describeCluster();
            Thread.sleep(100);
            admin.close(Duration.ZERO);
        }
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        for (String protocol : List.of("classic", "consumer")) {
            Map<String, Object> config = Map.of(
                "bootstrap.servers", "127.0.0.1:1", "group.id", "g", "group.protocol", protocol);
            KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config, bytes, bytes);
            consumer.subscribe(List.of("t"));
            consumer.poll(SOON);
            consumer.close(Duration.ZERO);
        }
        Map<String, Object> config = Map.of("bootstrap.servers", "127.0.0.1:1", "max.block.ms", 200);
        ByteArraySerializer written = new ByteArraySerializer();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config, written, written)) {
            producer.send(new ProducerRecord<>("t", new byte[1]));
            producer.close(Duration.ZERO);
        }
        Exit.setExitProcedure((code, message) -> {
            throw new IllegalStateException("a tool has ended");
        });
        run("kafka.tools.StorageTool", "random-uuid");
        run("kafka.admin.ConfigCommand", "--help");
        run("kafka.tools.DumpLogSegments", "--files", "nowhere/00000000000000000000.log");
    }

    private static void run(String tool, String... args) throws Exception {
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException ended) {
            // It has exited, or did not find its file: its classes are loaded either way.
        }
    }
}
