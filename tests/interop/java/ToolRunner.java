import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command line tools, run one after the other in one JVM: a command as a line of JSON in, {"tool": class, "args": [...]}, and
 * what it did as a line of JSON out, {"code": exit code, "out": text, "err": text}.
 */
public final class ToolRunner {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A stream of the process; tools may keep the one they find first, so the stream itself is emptied between them. */
    private static final class Captured extends OutputStream {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int b) {
            bytes.write(b);
        }

        @Override
        public synchronized void write(byte[] from, int at, int count) {
            bytes.write(from, at, count);
        }

        synchronized String take() {
            String text = bytes.toString(StandardCharsets.UTF_8);
            bytes.reset();
            return text;
        }
    }

    /** The end of a tool, where a process of its own would end. */
    private static final class Ended extends Error {
        Ended() {
            super("the tool has ended", null, false, false);
        }
    }

    private static Integer code;

    public static void main(String[] args) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        Captured out = new Captured();
        Captured err = new Captured();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((status, message) -> {
            if (code == null) {
                code = status; // what a process ends with is said once
            }
            throw new Ended();
        });
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            JsonNode command = JSON.readTree(line);
            List<String> given = new ArrayList<>();
            command.get("args").forEach(each -> given.add(each.asText()));
            code = null;
            run(command.get("tool").asText(), given.toArray(new String[0]));
            ObjectNode answer = JSON.createObjectNode();
            answer.put("code", code == null ? 0 : code);
            System.out.flush();
            System.err.flush();
            answer.put("out", out.take());
            answer.put("err", err.take());
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
    }

    private static void run(String tool, String[] args) throws ReflectiveOperationException {
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Ended)) {
                System.err.print("Exception in thread \"main\" ");
                thrown.getCause().printStackTrace();
                code = 1;
            }
        }
    }
}
