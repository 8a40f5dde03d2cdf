package dev.ebb.spark;

import com.codahale.metrics.Gauge;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** At the driver: checks the settings, gathers what executors tell, shows it. */
final class DriverSide implements DriverPlugin {

    private static final Logger LOG = LoggerFactory.getLogger(DriverSide.class);
    private static final String JAVA_OPTIONS = "spark.executor.extraJavaOptions";

    private static final long PATIENCE_MILLIS = 2000;

    private final ClusterBooks books = new ClusterBooks();
    private final Cluster cluster = new Cluster(books);
    private Settings settings;
    private StageSums sums;

    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
        settings = Settings.of(plugin.conf());
        settings.check();
        requireAgent(plugin.conf());
        plugin.conf().set(JAVA_OPTIONS, withAttach(plugin.conf().get(JAVA_OPTIONS, "")));
        sums = new StageSums(context);
        context.addSparkListener(cluster);
        Page.add(context, books, sums, settings.top());
        return Map.of();
    }

    /** What is missing is said here, before there is an executor that would miss it. */
    private void requireAgent(SparkConf conf) {
        boolean named = settings.text("agent") != null || conf.get(JAVA_OPTIONS, "").contains("-javaagent:");
        if (!named && !EbbAgent.isThere() && AgentJar.find(null) == null) {
            throw new IllegalStateException("[ebb] " + AgentJar.missing());
        }
    }

    /** Executors that are not started yet may then load the agent by themselves, without another process. */
    private static String withAttach(String options) {
        StringBuilder all = new StringBuilder(options);
        for (String option : AgentJar.OPTIONS) {
            String name = option.split("=")[0].replace("+", "");
            if (!options.replace("+", "").contains(name)) {
                all.append(all.length() == 0 ? "" : " ").append(option);
            }
        }
        return all.toString();
    }

    @Override
    public void registerMetrics(String application, PluginContext plugin) {
        for (String column : List.of("liveBytes", "createdBytes", "reclaimed", "reclaimedBytes", "collections")) {
            plugin.metricRegistry().register("cluster." + column, (Gauge<Long>) () -> books.sum(column));
        }
        plugin.metricRegistry().register("cluster.tasksThatKeep", (Gauge<Long>) books::keptTasks);
    }

    @Override
    public Object receive(Object message) throws IOException {
        Map<?, ?> told = (Map<?, ?>) message;
        switch ((String) told.get(Messages.KIND)) {
            case Messages.HELLO -> books.hello(told);
            case Messages.WITHOUT -> {
                LOG.error("[ebb] executor {} runs without Ebb: {}", told.get("executor"), told.get("why"));
                books.without(told);
                return null;
            }
            case Messages.BOOKS -> books.books(told);
            case Messages.LAST_BOOKS -> {
                books.books(told);
                books.done((String) told.get("executor"));
                return null;
            }
            case Messages.KEPT -> {
                books.kept(told);
                return null;
            }
            case Messages.STAGE -> {
                return new HashMap<>(Map.of("sums", sums.written((Integer) told.get("stage"))));
            }
            default -> throw new IllegalArgumentException("[ebb] unknown message " + told.get(Messages.KIND));
        }
        return cluster.known((String) told.get("executor"));
    }

    @Override
    public void shutdown() {
        if (sums != null) {
            books.awaitDone(PATIENCE_MILLIS); // executors have been told to stop, and say their last
            EndReport report = new EndReport(books, sums, settings.top());
            LOG.info("[ebb] {}", report.text());
            if (settings.text("report.file") != null) {
                report.write(settings.text("report.file"));
            }
        }
    }
}
