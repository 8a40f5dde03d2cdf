package dev.ebb.djl.unit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM of its own for what can only be set at its start. */
final class ChildJvm {

    static final String JAR = System.getProperty("ebb.test.jar");

    final int status;
    final String output;

    private ChildJvm(int status, String output) {
        this.status = status;
        this.output = output;
    }

    static ChildJvm run(List<String> options, String classPath, Class<?> program, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Dai.djl.offline=true");
        command.add("-Xmx512m");
        command.addAll(options);
        command.add("-cp");
        command.add(classPath);
        command.add(program.getName());
        command.addAll(List.of(arguments));
        Path log = Files.createTempFile("ebb-child", ".log");
        Process process =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
        boolean ended = process.waitFor(180, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly().waitFor();
        }
        String output = Files.readString(log, StandardCharsets.UTF_8);
        Files.delete(log);
        return new ChildJvm(ended ? process.exitValue() : -1, output);
    }

    /** The class path of the tests: DJL, Ebb and the test classes. */
    static String everything() {
        return System.getProperty("java.class.path");
    }

    /** The same less the jars with such a part in their paths; the folder of the test classes stays, whatever its path. */
    static String without(String... parts) {
        List<String> kept = new ArrayList<>();
        for (String entry : everything().split(java.io.File.pathSeparator)) {
            boolean leave = false;
            for (String part : parts) {
                leave |= entry.endsWith(".jar") && entry.contains(part);
            }
            if (!leave) {
                kept.add(entry);
            }
        }
        return String.join(java.io.File.pathSeparator, kept);
    }

    static String agent() {
        return "-javaagent:" + JAR;
    }
}
