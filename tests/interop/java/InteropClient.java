import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.CreateTopicsResult;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.FeatureMetadata;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.FinalizedVersionRange;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.ReplicaInfo;
import org.apache.kafka.clients.admin.SupportedVersionRange;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Kafka's own Java clients, driven over stdio: one JSON command per line in, one JSON answer per line out.
 *
 * Every command names its operation in "op" and the broker in "bootstrap". An answer is {"ok": result} or {"error": Kafka's error
 * name, "message": text}. Bytes travel as base64. One process serves many commands, since a JVM takes a second to warm up.
 */
public final class InteropClient {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int TIMEOUT_MS = 20_000;
    private static Admin admin;
    private static String adminBootstrap;

    /** System.out of everything but our answers; Scala's console keeps the stream it finds first, so the stream itself switches. */
    private static final class Switch extends OutputStream {
        volatile OutputStream target = System.err;

        @Override
        public void write(int b) throws java.io.IOException {
            target.write(b);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws java.io.IOException {
            target.write(bytes, from, count);
        }
    }

    private static final Switch STDOUT = new Switch();

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(new PrintStream(STDOUT, true, StandardCharsets.UTF_8));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("ok", run(JSON.readTree(line)));
            } catch (Throwable thrown) {
                Throwable cause = thrown instanceof ExecutionException && thrown.getCause() != null ? thrown.getCause() : thrown;
                answer.put("error", Errors.forException(cause).name());
                answer.put("message", cause.toString());
            }
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
        if (admin != null) {
            admin.close(Duration.ofMillis(500));
        }
    }

    private static JsonNode run(JsonNode in) throws Exception {
        switch (in.get("op").asText()) {
            case "produce":
                return produce(in);
            case "consume":
                return consume(in);
            case "offsets_for_times":
                return offsetsForTimes(in);
            case "create_topic":
                return createTopic(in);
            case "delete_topic":
                if (in.has("id")) {
                    admin(in).deleteTopics(TopicCollection.ofTopicIds(List.of(Uuid.fromString(in.get("id").asText())))).all().get();
                } else {
                    admin(in).deleteTopics(List.of(in.get("topic").asText())).all().get();
                }
                return JSON.nullNode();
            case "list_topics":
                return JSON.valueToTree(
                    admin(in).listTopics(new ListTopicsOptions().listInternal(true)).names().get().stream().sorted().toList());
            case "describe_topic":
                return describeTopic(in);
            case "create_partitions":
                admin(in).createPartitions(Map.of(in.get("topic").asText(), NewPartitions.increaseTo(in.get("count").asInt()))).all().get();
                return JSON.nullNode();
            case "describe_configs":
                return describeConfigs(in);
            case "alter_configs":
                return alterConfigs(in);
            case "list_config_resources":
                return JSON.valueToTree(
                    admin(in).listConfigResources().all().get().stream().map(r -> r.type() + ":" + r.name()).sorted().toList());
            case "delete_records":
                return JSON.valueToTree(
                    admin(in).deleteRecords(Map.of(partition(in), RecordsToDelete.beforeOffset(in.get("before").asLong())))
                        .lowWatermarks().get(partition(in)).get().lowWatermark());
            case "list_offsets":
                return listOffsets(in);
            case "describe_cluster":
                return describeCluster(in);
            case "describe_log_dirs":
                return describeLogDirs(in);
            case "describe_features":
                return describeFeatures(in);
            case "update_feature":
                FeatureUpdate.UpgradeType how = FeatureUpdate.UpgradeType.valueOf(in.get("upgrade_type").asText());
                admin(in).updateFeatures(
                    Map.of(in.get("feature").asText(), new FeatureUpdate((short) in.get("level").asInt(), how)),
                    new UpdateFeaturesOptions().validateOnly(in.path("validate_only").asBoolean(false))).all().get();
                return JSON.nullNode();
            case "dump":
                return dump(in);
            default:
                return GroupAdmin.run(in, admin(in));
        }
    }

    // --- records ------------------------------------------------------------------------------------------------------

    private static JsonNode produce(JsonNode in) throws Exception {
        Properties config = config(in);
        config.put("key.serializer", ByteArraySerializer.class.getName());
        config.put("value.serializer", ByteArraySerializer.class.getName());
        config.putIfAbsent("delivery.timeout.ms", TIMEOUT_MS);
        config.putIfAbsent("request.timeout.ms", TIMEOUT_MS / 2);
        config.putIfAbsent("linger.ms", "20");
        ArrayNode out = JSON.createArrayNode();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode record : in.get("records")) {
                List<Header> headers = new ArrayList<>();
                for (JsonNode pair : record.path("headers")) {
                    headers.add(new RecordHeader(pair.get(0).asText(), bytes(pair.get(1))));
                }
                Long timestamp = record.hasNonNull("timestamp") ? record.get("timestamp").asLong() : null;
                sent.add(producer.send(new ProducerRecord<>(
                    record.has("topic") ? record.get("topic").asText() : in.get("topic").asText(),
                    record.path("partition").asInt(0), timestamp, bytes(record.get("key")), bytes(record.get("value")), headers)));
            }
            producer.flush();
            for (Future<RecordMetadata> each : sent) {
                RecordMetadata metadata = each.get();
                out.addObject().put("offset", metadata.offset()).put("timestamp", metadata.timestamp());
            }
        }
        return out;
    }

    private static KafkaConsumer<byte[], byte[]> consumer(JsonNode in) {
        Properties config = config(in);
        config.put("key.deserializer", ByteArrayDeserializer.class.getName());
        config.put("value.deserializer", ByteArrayDeserializer.class.getName());
        config.put("enable.auto.commit", "false");
        config.putIfAbsent("auto.offset.reset", "none");
        return new KafkaConsumer<>(config);
    }

    /** Reads "partitions" ([[topic, partition], ...]) from "offset" (default: the beginning) to their ends at the time of the call. */
    private static JsonNode consume(JsonNode in) {
        ArrayNode out = JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(in)) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (JsonNode pair : in.get("partitions")) {
                partitions.add(new TopicPartition(pair.get(0).asText(), pair.get(1).asInt()));
            }
            consumer.assign(partitions);
            if (in.hasNonNull("offset")) {
                partitions.forEach(each -> consumer.seek(each, in.get("offset").asLong()));
            } else {
                consumer.seekToBeginning(partitions);
            }
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long deadline = System.nanoTime() + TIMEOUT_MS * 1_000_000L;
            while (partitions.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
                if (System.nanoTime() > deadline) {
                    throw new org.apache.kafka.common.errors.TimeoutException("the partitions' ends were not reached");
                }
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    ObjectNode each = out.addObject();
                    each.put("topic", record.topic()).put("partition", record.partition()).put("offset", record.offset());
                    each.put("timestamp", record.timestamp()).put("timestamp_type", record.timestampType().id);
                    each.put("key", record.key()).put("value", record.value());
                    each.put("leader_epoch", record.leaderEpoch().orElse(-1));
                    ArrayNode headers = each.putArray("headers");
                    for (Header header : record.headers()) {
                        headers.addArray().add(header.key()).add(header.value());
                    }
                }
            }
        }
        return out;
    }

    private static JsonNode offsetsForTimes(JsonNode in) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(in)) {
            OffsetAndTimestamp found =
                consumer.offsetsForTimes(Map.of(partition(in), in.get("timestamp").asLong())).get(partition(in));
            return found == null
                ? JSON.nullNode()
                : JSON.createObjectNode().put("offset", found.offset()).put("timestamp", found.timestamp());
        }
    }

    // --- administration -----------------------------------------------------------------------------------------------

    private static JsonNode createTopic(JsonNode in) throws Exception {
        NewTopic topic;
        String name = in.get("topic").asText();
        if (in.has("assignment")) {
            Map<Integer, List<Integer>> assignment = new HashMap<>();
            in.get("assignment").properties().forEach(each -> {
                List<Integer> replicas = new ArrayList<>();
                each.getValue().forEach(id -> replicas.add(id.asInt()));
                assignment.put(Integer.parseInt(each.getKey()), replicas);
            });
            topic = new NewTopic(name, assignment);
        } else {
            topic = new NewTopic(
                name,
                in.has("partitions") ? Optional.of(in.get("partitions").asInt()) : Optional.<Integer>empty(),
                in.has("replication") ? Optional.of((short) in.get("replication").asInt()) : Optional.<Short>empty());
        }
        if (in.has("configs")) {
            topic.configs(strings(in.get("configs")));
        }
        CreateTopicsResult result = admin(in).createTopics(
            List.of(topic), new CreateTopicsOptions().validateOnly(in.path("validate_only").asBoolean(false)));
        result.all().get();
        ObjectNode out = JSON.createObjectNode();
        out.put("partitions", result.numPartitions(name).get()).put("replication", result.replicationFactor(name).get());
        out.put("id", result.topicId(name).get().toString());
        ObjectNode configs = out.putObject("configs");
        for (ConfigEntry entry : result.config(name).get().entries()) {
            configs.put(entry.name(), entry.value());
        }
        return out;
    }

    private static JsonNode describeTopic(JsonNode in) throws Exception {
        DescribeTopicsOptions options = new DescribeTopicsOptions().partitionSizeLimitPerResponse(in.path("page").asInt(2000));
        TopicDescription topic = admin(in).describeTopics(List.of(in.get("topic").asText()), options)
            .allTopicNames().get().get(in.get("topic").asText());
        ObjectNode out = JSON.createObjectNode();
        out.put("name", topic.name()).put("id", topic.topicId().toString()).put("internal", topic.isInternal());
        ArrayNode partitions = out.putArray("partitions");
        for (TopicPartitionInfo each : topic.partitions()) {
            ObjectNode partition = partitions.addObject();
            partition.put("partition", each.partition()).put("leader", each.leader() == null ? -1 : each.leader().id());
            partition.set("replicas", JSON.valueToTree(each.replicas().stream().map(Node::id).toList()));
            partition.set("isr", JSON.valueToTree(each.isr().stream().map(Node::id).toList()));
        }
        return out;
    }

    private static ConfigResource resource(JsonNode in) {
        return new ConfigResource(ConfigResource.Type.valueOf(in.get("type").asText()), in.get("name").asText());
    }

    private static JsonNode describeConfigs(JsonNode in) throws Exception {
        DescribeConfigsOptions options = new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
        Config config = admin(in).describeConfigs(List.of(resource(in)), options).all().get().get(resource(in));
        ObjectNode out = JSON.createObjectNode();
        for (ConfigEntry entry : config.entries()) {
            ObjectNode each = out.putObject(entry.name());
            each.put("value", entry.value()).put("source", entry.source().name()).put("type", entry.type().name());
            each.put("read_only", entry.isReadOnly()).put("sensitive", entry.isSensitive());
            each.put("documentation", entry.documentation());
            each.set("synonyms", JSON.valueToTree(entry.synonyms().stream().map(s -> s.name() + "=" + s.value()).toList()));
        }
        return out;
    }

    private static JsonNode alterConfigs(JsonNode in) throws Exception {
        List<AlterConfigOp> ops = new ArrayList<>();
        for (JsonNode each : in.get("ops")) {
            ops.add(new AlterConfigOp(
                new ConfigEntry(each.get(1).asText(), each.get(2).isNull() ? null : each.get(2).asText()),
                AlterConfigOp.OpType.valueOf(each.get(0).asText())));
        }
        admin(in).incrementalAlterConfigs(Map.of(resource(in), ops)).all().get();
        return JSON.nullNode();
    }

    private static JsonNode listOffsets(JsonNode in) throws Exception {
        OffsetSpec spec;
        switch (in.get("spec").asText()) {
            case "earliest":
                spec = OffsetSpec.earliest();
                break;
            case "latest":
                spec = OffsetSpec.latest();
                break;
            case "max_timestamp":
                spec = OffsetSpec.maxTimestamp();
                break;
            case "earliest_local":
                spec = OffsetSpec.earliestLocal();
                break;
            default:
                spec = OffsetSpec.forTimestamp(in.get("spec").asLong());
        }
        ListOffsetsResult.ListOffsetsResultInfo found =
            admin(in).listOffsets(Map.of(partition(in), spec)).partitionResult(partition(in)).get();
        return JSON.createObjectNode().put("offset", found.offset()).put("timestamp", found.timestamp())
            .put("leader_epoch", found.leaderEpoch().orElse(-1));
    }

    private static JsonNode describeCluster(JsonNode in) throws Exception {
        DescribeClusterResult result = admin(in).describeCluster();
        ObjectNode out = JSON.createObjectNode().put("cluster_id", result.clusterId().get());
        out.put("controller", result.controller().get() == null ? -1 : result.controller().get().id());
        ArrayNode nodes = out.putArray("nodes");
        for (Node node : result.nodes().get()) {
            nodes.addObject().put("id", node.id()).put("host", node.host()).put("port", node.port()).put("fenced", node.isFenced());
        }
        return out;
    }

    private static JsonNode describeLogDirs(JsonNode in) throws Exception {
        ArrayNode out = JSON.createArrayNode();
        for (Map<String, LogDirDescription> dirs : admin(in).describeLogDirs(List.of(in.get("broker").asInt())).allDescriptions().get().values()) {
            for (Map.Entry<String, LogDirDescription> dir : dirs.entrySet()) {
                ObjectNode each = out.addObject().put("path", dir.getKey());
                each.put("total_bytes", dir.getValue().totalBytes().orElse(-1));
                each.put("error", dir.getValue().error() == null ? null : dir.getValue().error().toString());
                ObjectNode sizes = each.putObject("replicas");
                for (Map.Entry<TopicPartition, ReplicaInfo> replica : dir.getValue().replicaInfos().entrySet()) {
                    sizes.put(replica.getKey().toString(), replica.getValue().size());
                }
            }
        }
        return out;
    }

    private static JsonNode describeFeatures(JsonNode in) throws Exception {
        FeatureMetadata features = admin(in).describeFeatures().featureMetadata().get();
        ObjectNode out = JSON.createObjectNode();
        ObjectNode finalized = out.putObject("finalized");
        for (Map.Entry<String, FinalizedVersionRange> each : features.finalizedFeatures().entrySet()) {
            finalized.put(each.getKey(), each.getValue().maxVersionLevel());
        }
        ObjectNode supported = out.putObject("supported");
        for (Map.Entry<String, SupportedVersionRange> each : features.supportedFeatures().entrySet()) {
            supported.putArray(each.getKey()).add(each.getValue().minVersion()).add(each.getValue().maxVersion());
        }
        out.put("epoch", features.finalizedFeaturesEpoch().orElse(-1L));
        return out;
    }

    /** What Kafka's DumpLogSegments prints. */
    private static JsonNode dump(JsonNode in) {
        List<String> args = new ArrayList<>();
        in.get("args").forEach(each -> args.add(each.asText()));
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        STDOUT.target = text;
        try {
            kafka.tools.DumpLogSegments.main(args.toArray(new String[0]));
            System.out.flush();
        } finally {
            STDOUT.target = System.err;
        }
        return JSON.valueToTree(text.toString(StandardCharsets.UTF_8));
    }

    // --- small parts --------------------------------------------------------------------------------------------------

    private static Admin admin(JsonNode in) {
        String bootstrap = in.get("bootstrap").asText();
        if (!bootstrap.equals(adminBootstrap)) {
            if (admin != null) {
                admin.close(Duration.ofMillis(500));
            }
            Properties config = config(in);
            config.put("default.api.timeout.ms", TIMEOUT_MS);
            config.put("request.timeout.ms", TIMEOUT_MS / 2);
            admin = Admin.create(config);
            adminBootstrap = bootstrap;
        }
        return admin;
    }

    private static Properties config(JsonNode in) {
        Properties config = new Properties();
        config.put("bootstrap.servers", in.get("bootstrap").asText());
        config.putAll(strings(in.path("config")));
        return config;
    }

    private static Map<String, String> strings(JsonNode object) {
        Map<String, String> out = new HashMap<>();
        Iterator<Map.Entry<String, JsonNode>> each = object.properties().iterator();
        while (each.hasNext()) {
            Map.Entry<String, JsonNode> entry = each.next();
            out.put(entry.getKey(), entry.getValue().asText());
        }
        return out;
    }

    private static TopicPartition partition(JsonNode in) {
        return new TopicPartition(in.get("topic").asText(), in.path("partition").asInt(0));
    }

    private static byte[] bytes(JsonNode node) throws java.io.IOException {
        return node == null || node.isNull() ? null : node.binaryValue();
    }
}
