package dev.ebb.spark.jobs;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;

/**
 * What a task found out.
 *
 * @param resident the executor's resident memory when the task ended, in bytes
 * @param peak the most that it was so far
 */
record Partition(int number, double score, String executor, long resident, long peak) implements Serializable {

    static Partition of(double score) {
        return new Partition(
                TaskContext.getPartitionId(), score, SparkEnv.get().executorId(), status("VmRSS"), status("VmHWM"));
    }

    private static long status(String line) {
        try {
            for (String each : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (each.startsWith(line + ":")) {
                    return Long.parseLong(each.replaceAll("\\D", "")) << 10;
                }
            }
        } catch (IOException e) {
            return -1; // not Linux
        }
        return -1;
    }

    String json() {
        return String.format(
                Locale.ROOT,
                "{\"partition\": %d, \"score\": %.6f, \"executor\": \"%s\", \"resident\": %d, \"peak\": %d}",
                number,
                score,
                executor,
                resident,
                peak);
    }
}
