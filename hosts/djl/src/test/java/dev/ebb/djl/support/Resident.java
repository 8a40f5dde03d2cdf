package dev.ebb.djl.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Resident memory of this process, in bytes. */
public final class Resident {
    private Resident() {}

    public static long now() {
        return read("VmRSS:");
    }

    public static long peak() {
        return read("VmHWM:");
    }

    /** From here on {@link #peak()} is about what follows. */
    public static void resetPeak() {
        try {
            Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long read(String field) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith(field)) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("no " + field + " in /proc/self/status");
    }
}
