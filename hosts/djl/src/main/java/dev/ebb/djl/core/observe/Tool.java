package dev.ebb.djl.core.observe;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.Native;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The tool {@code ebb}, which travels in the jar, and other child processes. */
public final class Tool {

    private static final int PATIENCE_SECONDS = 120;

    private static Path file; // null: not unpacked so far

    private Tool() {}

    /** What it prints. Throws an {@link EbbException} with what it says if it fails. */
    public static String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(file().toString());
        command.addAll(List.of(arguments));
        return output(command, PATIENCE_SECONDS);
    }

    public static synchronized Path file() throws IOException {
        if (file == null || !Files.exists(file)) {
            file = Native.unpack("ebb", "");
            if (!file.toFile().setExecutable(true, true)) {
                throw new IOException("the tool ebb cannot be made executable in " + file.getParent());
            }
        }
        return file;
    }

    /** What a child process prints, both ways. */
    static String output(List<String> command, int seconds) throws IOException, InterruptedException {
        Path printed = Files.createTempFile("ebb", ".txt");
        try {
            Process child =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(printed.toFile()).start();
            if (!child.waitFor(seconds, TimeUnit.SECONDS)) {
                child.destroyForcibly().waitFor();
                throw new EbbException("[ebb] " + command.get(0) + " took more than " + seconds + " s");
            }
            String text = Files.readString(printed, StandardCharsets.UTF_8);
            if (child.exitValue() != 0) {
                throw new EbbException("[ebb] " + text.strip());
            }
            return text;
        } finally {
            Files.deleteIfExists(printed);
        }
    }
}
