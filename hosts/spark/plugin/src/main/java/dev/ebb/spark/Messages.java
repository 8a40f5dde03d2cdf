package dev.ebb.spark;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.api.plugin.PluginContext;

/**
 * What executors tell the driver and are answered. Only the JDK's types: the driver's RPC reads them with a class loader that
 * need not know the plugin.
 */
final class Messages {

    static final String KIND = "kind";
    static final String HELLO = "hello";
    static final String WITHOUT = "without";
    static final String BOOKS = "books";
    static final String LAST_BOOKS = "last books"; // not answered
    static final String KEPT = "kept";
    static final String STAGE = "stage";

    private Messages() {}

    private static HashMap<String, Object> of(String kind, PluginContext context) {
        HashMap<String, Object> message = new HashMap<>();
        message.put(KIND, kind);
        message.put("executor", context.executorID());
        return message;
    }

    /** Answered by what the driver knows of the executor: "cores", "overhead". */
    static HashMap<String, Object> hello(PluginContext context) {
        return of(HELLO, context);
    }

    static HashMap<String, Object> without(PluginContext context, String why) {
        HashMap<String, Object> message = of(WITHOUT, context);
        message.put("why", why);
        return message;
    }

    /** The whole of an executor's books: a later one stands in place of an earlier one. Answered as {@link #hello}. */
    static HashMap<String, Object> books(
            PluginContext context,
            boolean last,
            long number,
            long budget,
            Map<String, Long> memory,
            String report,
            Map<String, long[]> reclaimed) {
        HashMap<String, Object> message = of(last ? LAST_BOOKS : BOOKS, context);
        message.put("number", number);
        message.put("budget", budget);
        message.put("memory", new HashMap<>(memory));
        message.put("report", report);
        message.put("reclaimed", new HashMap<>(reclaimed));
        return message;
    }

    /** A task that has left arrays which something still reaches; "lines": site to arrays and bytes. */
    static HashMap<String, Object> kept(PluginContext context, Map<String, Object> task) {
        HashMap<String, Object> message = of(KEPT, context);
        message.put("name", task.get("name"));
        message.put("lines", new HashMap<>((Map<?, ?>) task.get("lines")));
        return message;
    }

    /** Answered by the stage's accumulators, serialized. */
    static HashMap<String, Object> stage(int stage, int attempt) {
        HashMap<String, Object> message = new HashMap<>();
        message.put(KIND, STAGE);
        message.put("stage", stage);
        message.put("attempt", attempt);
        return message;
    }
}
