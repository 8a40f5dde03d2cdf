package dev.ebb.djl.support;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A program in a JVM of its own, with this one's class path: for what is decided at start (the agent, collectors,
 * cures switched off) or may crash.
 */
public final class Fork {
    private static final String OFFLINE = "-Dai.djl.offline=true";

    private final List<String> flags = new ArrayList<>();
    private final List<String> prefix = new ArrayList<>();
    private final List<String> environment = new ArrayList<>();
    private String classPath = System.getProperty("java.class.path");
    private int seconds = 120;

    /** What came of it. {@code text} holds both output and errors. */
    public record Result(int status, String text) {
        /** The value of the last line {@code name=value}. */
        public String value(String name) {
            String found = null;
            for (String line : text.split("\\R")) {
                if (line.startsWith(name + "=")) {
                    found = line.substring(name.length() + 1).trim();
                }
            }
            if (found == null) {
                throw new AssertionError("no line " + name + "=... in:\n" + text);
            }
            return found;
        }

        public double number(String name) {
            return Double.parseDouble(value(name));
        }
    }

    /** The shaded jar, as Maven built it. */
    public static Path agent() {
        String path = System.getProperty("ebb.test.jar");
        if (path == null) {
            throw new IllegalStateException("Set -Debb.test.jar to the path of ebb-djl's jar.");
        }
        return Path.of(path);
    }

    /** Without Ebb's agent. */
    public static Fork stock() {
        return new Fork();
    }

    /** With the agent, reclaim as the program says. */
    public static Fork withAgent() {
        return new Fork().flag("-javaagent:" + agent());
    }

    public static Fork reclaiming() {
        return withAgent().flag("-Debb.reclaim=true");
    }

    public Fork flag(String... more) {
        flags.addAll(List.of(more));
        return this;
    }

    public Fork environment(String name, String value) {
        environment.add(name);
        environment.add(value);
        return this;
    }

    /** A command that runs the JVM, e.g. under a limit. */
    public Fork prefix(String... command) {
        prefix.addAll(List.of(command));
        return this;
    }

    public Fork classPath(String path) {
        classPath = path;
        return this;
    }

    public Fork seconds(int most) {
        seconds = most;
        return this;
    }

    public Result run(Class<?> program, Object... arguments) throws IOException, InterruptedException {
        return run(program.getName(), arguments);
    }

    public Result run(String program, Object... arguments) throws IOException, InterruptedException {
        List<String> command = command(program, arguments);
        Path output = Files.createTempFile("ebb-fork", ".log");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.redirectOutput(output.toFile());
        Map<String, String> variables = builder.environment();
        for (int i = 0; i < environment.size(); i += 2) {
            variables.put(environment.get(i), environment.get(i + 1));
        }
        Process process = builder.start();
        boolean ended = false;
        for (int waited = 0; waited < seconds && !ended; waited++) {
            ended = process.waitFor(1, TimeUnit.SECONDS); // while the machine stands still, this waits with it
        }
        if (!ended) {
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(output, StandardCharsets.ISO_8859_1);
        Files.delete(output);
        return new Result(ended ? process.exitValue() : -1, ended ? text : text + "\n(stopped after " + seconds + " s)");
    }

    public List<String> command(String program, Object... arguments) {
        List<String> command = new ArrayList<>(prefix);
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.add(OFFLINE);
        command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        for (String name : List.of("ebb.test.jar", "ebb.mnist")) {
            if (System.getProperty(name) != null) {
                command.add("-D" + name + "=" + System.getProperty(name));
            }
        }
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath, program));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return command;
    }
}
