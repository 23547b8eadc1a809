import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Kafka's own assignors, asked over stdio: one JSON case per line in, one JSON answer per line out.
 *
 * A case names the "assignor", the partition "counts" by topic, the "racks" of each partition or null, and the
 * "members". Answers list [topic, partition] by member, in the assignor's order. Maps are handed to Kafka in the
 * order of the case. For the coordinator's assignors (names that begin with "server-") topics are small numbers,
 * which become topic ids. For "murmur2" there is only a "key", and its hash is the answer.
 */
public final class AssignorOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, "UTF-8");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode test = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            try {
                if (test.get("assignor").asText().equals("murmur2")) {
                    answer.put("ok", Utils.murmur2(Base64.getDecoder().decode(test.get("key").asText())));
                    out.println(answer);
                    continue;
                }
                boolean server = test.get("assignor").asText().startsWith("server-");
                answer.set("ok", server ? byCoordinator(test) : byClient(test));
            } catch (RuntimeException problem) {
                answer.put("error", problem.toString());
            }
            out.println(answer);
        }
        out.flush();
    }

    private static ObjectNode byClient(JsonNode test) {
        AbstractPartitionAssignor assignor;
        switch (test.get("assignor").asText()) {
            case "range": assignor = new RangeAssignor(); break;
            case "roundrobin": assignor = new RoundRobinAssignor(); break;
            case "sticky": assignor = new StickyAssignor(); break;
            case "cooperative-sticky": assignor = new CooperativeStickyAssignor(); break;
            default: throw new IllegalArgumentException("no such assignor");
        }
        Map<String, Subscription> members = new LinkedHashMap<>();
        test.get("members").fields().forEachRemaining(each -> members.put(each.getKey(), subscription(each.getValue())));
        ObjectNode result = JSON.createObjectNode();
        assignor.assignPartitions(partitions(test), members).forEach((member, partitions) -> {
            ArrayNode list = result.putArray(member);
            for (TopicPartition partition : partitions)
                list.addArray().add(partition.topic()).add(partition.partition());
        });
        return result;
    }

    private static Map<String, List<PartitionInfo>> partitions(JsonNode test) {
        Map<String, List<PartitionInfo>> found = new LinkedHashMap<>();
        test.get("counts").fields().forEachRemaining(each -> {
            List<PartitionInfo> infos = new ArrayList<>();
            for (int number = 0; number < each.getValue().asInt(); number++) {
                List<Node> replicas = new ArrayList<>();
                if (test.hasNonNull("racks"))
                    for (JsonNode rack : test.get("racks").get(each.getKey()).get(number))
                        replicas.add(new Node(replicas.size(), "localhost", 9092, rack.asText()));
                Node[] nodes = replicas.toArray(new Node[0]);
                infos.add(new PartitionInfo(each.getKey(), number, nodes.length == 0 ? Node.noNode() : nodes[0], nodes, nodes));
            }
            found.put(each.getKey(), infos);
        });
        return found;
    }

    private static Subscription subscription(JsonNode member) {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText()));
        List<TopicPartition> owned = new ArrayList<>();
        member.get("owned").forEach(each -> owned.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt())));
        ByteBuffer userData = member.hasNonNull("user_data")
            ? ByteBuffer.wrap(Base64.getDecoder().decode(member.get("user_data").asText())) : null;
        Subscription made = new Subscription(topics, userData, owned, member.get("generation").asInt(), text(member, "rack"));
        made.setGroupInstanceId(text(member, "instance_id"));
        return made;
    }

    private static Optional<String> text(JsonNode node, String field) {
        return node.hasNonNull(field) ? Optional.of(node.get(field).asText()) : Optional.empty();
    }

    private static ObjectNode byCoordinator(JsonNode test) {
        ConsumerGroupPartitionAssignor assignor = test.get("assignor").asText().equals("server-range")
            ? new org.apache.kafka.coordinator.group.assignor.RangeAssignor() : new UniformAssignor();
        Map<Uuid, Integer> counts = new HashMap<>();
        test.get("counts").fields().forEachRemaining(each -> counts.put(id(each.getKey()), each.getValue().asInt()));
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new LinkedHashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<Uuid>> different = new HashSet<>();
        test.get("members").fields().forEachRemaining(each -> {
            JsonNode member = each.getValue();
            Set<Uuid> topics = new HashSet<>();
            member.get("topics").forEach(topic -> topics.add(id(topic.asText())));
            different.add(topics);
            Map<Uuid, Set<Integer>> owned = new LinkedHashMap<>();
            member.get("owned").forEach(pair -> {
                Uuid topic = id(pair.get(0).asText());
                owned.computeIfAbsent(topic, __ -> new HashSet<>()).add(pair.get(1).asInt());
                owners.computeIfAbsent(topic, __ -> new HashMap<>()).put(pair.get(1).asInt(), each.getKey());
            });
            members.put(each.getKey(), new MemberSubscriptionAndAssignmentImpl(
                text(member, "rack"), text(member, "instance_id"), topics, new Assignment(owned)));
        });
        SubscriptionType type = different.size() == 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        SubscribedTopicDescriber topics = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topic) {
                return counts.getOrDefault(topic, -1);
            }

            @Override
            public Set<String> racksForPartition(Uuid topic, int partition) {
                return Set.of();
            }
        };
        ObjectNode result = JSON.createObjectNode();
        assignor.assign(new GroupSpecImpl(members, type, owners), topics).members().forEach((member, assignment) -> {
            ArrayNode list = result.putArray(member);
            for (Map.Entry<Uuid, Set<Integer>> each : assignment.partitions().entrySet())
                for (int partition : new TreeSet<>(each.getValue()))
                    list.addArray().add(Long.toString(each.getKey().getLeastSignificantBits())).add(partition);
        });
        return result;
    }

    private static Uuid id(String topic) {
        return new Uuid(0, Long.parseLong(topic));
    }
}
