package dev.ebb.spark;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkContext;

/** At the driver: the accumulators of each stage that made arrays, in Spark's page of the stage too. */
final class StageSums {

    /** In this order on the wire. */
    static final List<String> COLUMNS = List.of("arrays made", "bytes made", "arrays not closed", "bytes not closed");

    private static final int MOST = 1000; // as Spark's web interface retains

    private final SparkContext context;
    private final Map<Integer, StageSum[]> byStage =
            new LinkedHashMap<>() {
                @Override
                protected boolean removeEldestEntry(Map.Entry<Integer, StageSum[]> eldest) {
                    return size() > MOST;
                }
            };

    StageSums(SparkContext context) {
        this.context = context;
    }

    /** At a task. */
    static long value(String column, Map<String, Long> counts) {
        return switch (column) {
            case "arrays made" -> counts.get("made");
            case "bytes made" -> counts.get("madeBytes");
            case "arrays not closed" -> counts.get("made") - counts.get("closed");
            default -> counts.get("madeBytes") - counts.get("closedBytes");
        };
    }

    /** All attempts of a stage share them: a partition counts once. */
    synchronized byte[] written(int stage) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            for (StageSum sum : byStage.computeIfAbsent(stage, this::register)) {
                out.writeObject(sum);
            }
        }
        return bytes.toByteArray();
    }

    private StageSum[] register(int stage) {
        StageSum[] sums = new StageSum[COLUMNS.size()];
        for (int i = 0; i < sums.length; i++) {
            sums[i] = new StageSum();
            context.register(sums[i], "ebb: " + COLUMNS.get(i));
        }
        return sums;
    }

    /** The stages in the order of their first arrays; of each the values of {@link #COLUMNS}. */
    synchronized Map<Integer, long[]> values() {
        Map<Integer, long[]> values = new LinkedHashMap<>();
        byStage.forEach(
                (stage, sums) -> {
                    long[] row = new long[sums.length];
                    for (int i = 0; i < row.length; i++) {
                        row[i] = sums[i].value();
                    }
                    values.put(stage, row);
                });
        return values;
    }
}
