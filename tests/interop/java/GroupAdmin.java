import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ClassicGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;

/** The operations of InteropClient that are about groups, as kafka-consumer-groups.sh and kafka-groups.sh make them. */
final class GroupAdmin {
    private static final ObjectMapper JSON = new ObjectMapper();

    private GroupAdmin() {}

    static JsonNode run(JsonNode in, Admin admin) throws Exception {
        String group = in.path("group").asText();
        switch (in.get("op").asText()) {
            case "list_groups":
                return listGroups(in, admin);
            case "describe_consumer_group":
                return describe(admin.describeConsumerGroups(List.of(group)).all().get().get(group));
            case "describe_classic_group":
                return describe(admin.describeClassicGroups(List.of(group)).all().get().get(group));
            case "group_offsets":
                return groupOffsets(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get());
            case "alter_group_offsets":
                admin.alterConsumerGroupOffsets(group, offsets(in.get("offsets"))).all().get();
                return JSON.nullNode();
            case "delete_group_offsets":
                admin.deleteConsumerGroupOffsets(group, partitions(in.get("partitions"))).all().get();
                return JSON.nullNode();
            case "delete_group":
                admin.deleteConsumerGroups(List.of(group)).all().get();
                return JSON.nullNode();
            case "remove_members":
                admin.removeMembersFromConsumerGroup(group, removal(in)).all().get();
                return JSON.nullNode();
            default:
                throw new IllegalArgumentException("unknown operation " + in.get("op"));
        }
    }

    private static JsonNode listGroups(JsonNode in, Admin admin) throws Exception {
        ListGroupsOptions options = new ListGroupsOptions();
        if (in.has("states")) {
            Set<GroupState> states = new HashSet<>();
            in.get("states").forEach(each -> states.add(GroupState.parse(each.asText())));
            options = options.inGroupStates(states);
        }
        if (in.has("types")) {
            Set<GroupType> types = new HashSet<>();
            in.get("types").forEach(each -> types.add(GroupType.parse(each.asText())));
            options = options.withTypes(types);
        }
        ObjectNode out = JSON.createObjectNode();
        for (GroupListing each : admin.listGroups(options).all().get()) {
            out.putObject(each.groupId())
                .put("type", each.type().map(GroupType::toString).orElse(null))
                .put("protocol", each.protocol())
                .put("state", each.groupState().map(GroupState::toString).orElse(null));
        }
        return out;
    }

    private static JsonNode describe(ConsumerGroupDescription group) {
        ObjectNode out = JSON.createObjectNode();
        out.put("group", group.groupId()).put("type", group.type().toString()).put("state", group.groupState().toString());
        out.put("assignor", group.partitionAssignor()).put("simple", group.isSimpleConsumerGroup());
        out.put("coordinator", group.coordinator().id()).put("epoch", group.groupEpoch().orElse(null));
        out.put("target_epoch", group.targetAssignmentEpoch().orElse(null));
        out.set("members", members(group.members()));
        return out;
    }

    private static JsonNode describe(ClassicGroupDescription group) {
        ObjectNode out = JSON.createObjectNode();
        out.put("group", group.groupId()).put("protocol", group.protocol()).put("protocol_data", group.protocolData());
        out.put("state", group.state().toString()).put("coordinator", group.coordinator().id());
        out.set("members", members(group.members()));
        return out;
    }

    private static JsonNode members(Collection<MemberDescription> members) {
        ArrayNode out = JSON.createArrayNode();
        for (MemberDescription each : members) {
            ObjectNode member = out.addObject();
            member.put("id", each.consumerId()).put("client", each.clientId()).put("host", each.host());
            member.put("instance", each.groupInstanceId().orElse(null)).put("epoch", each.memberEpoch().orElse(null));
            Optional<Boolean> upgraded = each.upgraded();
            member.put("upgraded", upgraded.orElse(null));
            List<String> assigned = new ArrayList<>();
            each.assignment().topicPartitions().forEach(partition -> assigned.add(partition.toString()));
            member.set("assigned", JSON.valueToTree(assigned.stream().sorted().toList()));
        }
        return out;
    }

    private static JsonNode groupOffsets(Map<TopicPartition, OffsetAndMetadata> offsets) {
        ObjectNode out = JSON.createObjectNode();
        offsets.forEach((partition, offset) -> {
            if (offset != null) {
                out.putObject(partition.toString()).put("offset", offset.offset()).put("metadata", offset.metadata())
                    .put("leader_epoch", offset.leaderEpoch().orElse(-1));
            }
        });
        return out;
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsets(JsonNode triples) {
        Map<TopicPartition, OffsetAndMetadata> out = new HashMap<>();
        for (JsonNode each : triples) {
            out.put(
                new TopicPartition(each.get(0).asText(), each.get(1).asInt()),
                new OffsetAndMetadata(each.get(2).asLong(), each.path(3).asText("")));
        }
        return out;
    }

    private static Set<TopicPartition> partitions(JsonNode pairs) {
        Set<TopicPartition> out = new HashSet<>();
        pairs.forEach(each -> out.add(new TopicPartition(each.get(0).asText(), each.get(1).asInt())));
        return out;
    }

    private static RemoveMembersFromConsumerGroupOptions removal(JsonNode in) {
        if (!in.has("instances")) {
            return new RemoveMembersFromConsumerGroupOptions();
        }
        Set<MemberToRemove> members = new HashSet<>();
        in.get("instances").forEach(each -> members.add(new MemberToRemove(each.asText())));
        return new RemoveMembersFromConsumerGroupOptions(members);
    }
}
