package dev.ebb.spark;

/** What arrays on an executor may hold: a share of the memory beside the heap that Spark asks the cluster for. */
final class Budget {

    private static final long LEAST_OVERHEAD = 384L << 20;

    private Budget() {}

    /**
     * In bytes.
     *
     * @param profiled the memory overhead of the executor's resource profile; 0 if it has none of its own
     */
    static long of(Settings settings, long profiled) {
        if (settings.text("budget") != null) {
            return settings.bytes("budget");
        }
        long overhead = profiled > 0 ? profiled : overhead(settings);
        return Math.max(1, (long) (overhead * settings.share()));
    }

    /** As Spark reckons it: what is set, or a tenth of the heap, and no less than 384 MB. */
    static long overhead(Settings settings) {
        String set = settings.spark("executor.memoryOverhead");
        if (set != null) {
            return megabytes(set);
        }
        String heap = settings.spark("executor.memory");
        String factor = settings.spark("executor.memoryOverheadFactor");
        long share = (long) (megabytes(heap == null ? "1g" : heap) * (factor == null ? 0.1 : Double.parseDouble(factor)));
        return Math.max(LEAST_OVERHEAD, share);
    }

    /** Spark's sizes are in MB where they have no unit. */
    private static long megabytes(String text) {
        return Sizes.parse(text.trim().matches("\\d+") ? text.trim() + "m" : text);
    }

    /** How many tasks run on an executor at once. */
    static int slots(Settings settings, int cores) {
        int known = cores > 0 ? cores : settings.sparkNumber("executor.cores", 1);
        return Math.max(1, known / Math.max(1, settings.sparkNumber("task.cpus", 1)));
    }
}
