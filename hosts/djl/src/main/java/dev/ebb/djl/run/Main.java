package dev.ebb.djl.run;

import dev.ebb.djl.core.observe.Tool;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * {@code java -jar ebb-djl.jar run -- java -cp ... Main}: the program as it is, with reclaim and a recording, which is
 * explained at its end, past the budget, or when something has grown for a while.
 */
public final class Main {

    private static final String USAGE =
            """
            java -jar ebb-djl.jar run [options] -- java -cp ... Main [arguments]
              --mode counters|sampled|full  what is recorded (sampled)
              --max SIZE                    of the recording; its oldest parts go (256MB)
              --out FILE                    where; %n is the program's name, %p the process's number (%n.ebbrec)
              --budget SIZE                 what arrays may hold (half of what the process may use)
              --after SECONDS               when what grows is looked at first (5)
              --why, --no-why               look for holders also in a heap of more than 1 GB; never look
              --no-reclaim                  dropped arrays stay
            Where the command is no java, each JVM that it starts is recorded (%n-%p.ebbrec).
            java -jar ebb-djl.jar report FILE, why, diff, check, export: what the tool ebb says of recordings.""";
    private static final int WRONG = 2;
    private static final Map<String, String> VALUED =
            Map.of(
                    "--mode", "record",
                    "--max", "record.max",
                    "--out", "record.file",
                    "--budget", "budget",
                    "--after", "explain.after");
    private static final Map<String, String[]> PLAIN =
            Map.of(
                    "--no-reclaim", new String[] {"reclaim", "false"},
                    "--why", new String[] {"explain.why", "always"},
                    "--no-why", new String[] {"explain.why", "never"});

    private final Map<String, String> agent = new LinkedHashMap<>();

    private Main() {
        agent.put("record.max", "256MB");
        agent.put("explain", "true");
        agent.put("record", "sampled");
        agent.put("reclaim", "true");
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0 || arguments[0].equals("--help")) {
            System.err.println(USAGE);
            System.exit(arguments.length == 0 ? WRONG : 0);
        }
        if (!arguments[0].equals("run")) {
            System.exit(tool(arguments));
        }
        List<String> given = new ArrayList<>(List.of(arguments).subList(1, arguments.length));
        Main run = new Main();
        String wrong = run.takeOptions(given);
        if (wrong == null && given.isEmpty()) {
            wrong = "no command is given";
        }
        if (wrong != null) {
            System.err.println("ebb: " + wrong + "\n" + USAGE);
            System.exit(WRONG);
        }
        System.exit(run.start(given));
    }

    private static int tool(String[] arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(arguments));
        command.add(0, Tool.file().toString());
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }

    /** Takes them off the front; what is wrong with them, or null. */
    private String takeOptions(List<String> given) {
        while (!given.isEmpty() && given.get(0).startsWith("-")) {
            String option = given.remove(0);
            if (option.equals("--")) {
                return null;
            }
            String[] plain = PLAIN.get(option);
            String name = VALUED.get(option);
            if (plain == null && (name == null || given.isEmpty())) {
                return option + (name == null ? " is no option" : " has no value");
            }
            String value = plain != null ? plain[1] : given.remove(0);
            if (value.contains(",")) {
                return option + " " + value + ": no comma is allowed";
            }
            agent.put(plain != null ? plain[0] : name, value);
        }
        return null;
    }

    private int start(List<String> command) throws IOException, InterruptedException, URISyntaxException {
        boolean isJava = Path.of(command.get(0)).getFileName().toString().equals("java");
        if (!isJava) {
            agent.putIfAbsent("record.file", "%n-%p.ebbrec");
        }
        Path jar = Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        String option = "-javaagent:" + jar + "=" + agent.entrySet().stream().map(Object::toString).collect(Collectors.joining(","));
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        if (isJava) {
            command.add(1, option);
        } else {
            String before = builder.environment().get("JAVA_TOOL_OPTIONS");
            String quoted = jar.toString().contains(" ") ? '"' + option + '"' : option;
            builder.environment().put("JAVA_TOOL_OPTIONS", before == null ? quoted : before + " " + quoted);
        }
        Process program;
        try {
            program = builder.start();
        } catch (IOException e) {
            System.err.println("ebb: " + e.getMessage());
            return WRONG;
        }
        // Interrupted by Ctrl-C, it ends when the program has: what that explains comes first.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(program)));
        return program.waitFor();
    }

    private static void end(Process program) {
        try {
            program.destroy();
            program.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
