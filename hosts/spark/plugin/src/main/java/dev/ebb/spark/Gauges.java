package dev.ebb.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The books among Spark's metrics of an executor. Spark adds the executor and the plugin's name in front. */
final class Gauges {

    private static final long FRESH = TimeUnit.SECONDS.toNanos(1);

    private final EbbAgent agent;
    private Map<String, Long> books = Map.of();
    private long read;

    private Gauges(EbbAgent agent) {
        this.agent = agent;
    }

    static void register(MetricRegistry registry, EbbAgent agent, ExecutorBudget budget) {
        Gauges gauges = new Gauges(agent);
        for (String column : ExecutorBooks.COLUMNS) {
            registry.register(column, (Gauge<Long>) () -> gauges.value(column));
        }
        registry.register("collectMillis", (Gauge<Long>) () -> gauges.value("collectNanos") / 1_000_000);
        registry.register("budgetBytes", (Gauge<Long>) budget::bytes);
    }

    /** One look serves all gauges of a poll. */
    private synchronized long value(String column) {
        if (books.isEmpty() || System.nanoTime() - read > FRESH) {
            books = agent.look();
            read = System.nanoTime();
        }
        return books.getOrDefault(column, 0L);
    }
}
