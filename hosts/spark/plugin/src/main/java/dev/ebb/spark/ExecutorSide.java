package dev.ebb.spark;

import java.io.File;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** On each executor: brings the agent, sets the budget, and accounts for every task. */
final class ExecutorSide implements ExecutorPlugin {

    private static final Logger LOG = LoggerFactory.getLogger(ExecutorSide.class);

    private volatile TaskAccounts accounts; // null: this executor runs without Ebb
    private Reporter reporter;

    @Override
    public void init(PluginContext context, Map<String, String> fromDriver) {
        Settings settings = Settings.of(context.conf());
        Driver driver = new Driver(context);
        try {
            start(settings, context, driver);
        } catch (RuntimeException | LinkageError e) {
            LOG.error("[ebb] executor {} runs without Ebb: {}", context.executorID(), e.getMessage(), e);
            driver.tell(Messages.without(context, e.getMessage()));
            if (settings.is("required")) {
                throw e;
            }
        }
    }

    private void start(Settings settings, PluginContext context, Driver driver) {
        bring(settings);
        EbbAgent agent = EbbAgent.find();
        ExecutorBudget budget = new ExecutorBudget(agent, settings, context.resources());
        budget.apply(driver.ask(Messages.hello(context)));
        agent.strict(settings.is("strict"));
        agent.reclaim(settings.is("reclaim"));
        Tracing tracing = new Tracing(agent, settings.text("trace"));
        Review review = new Review(agent, budget, driver, context, tracing);
        accounts = new TaskAccounts(agent, settings, driver, review, tracing);
        Gauges.register(context.metricRegistry(), agent, budget);
        UnmanagedMemory.register(agent);
        reporter = new Reporter(agent, settings, context, driver, budget, review);
        LOG.info("[ebb] executor {}: budget {}, reclaim {}", context.executorID(), Sizes.show(budget.bytes()),
                settings.text("reclaim"));
    }

    /** Loads the agent unless it is there; once more where the C library is to be told something only it can tell. */
    private static void bring(Settings settings) {
        boolean trim = settings.text("malloc").equals("trim");
        if (EbbAgent.isThere() && !trim) {
            return;
        }
        File jar = AgentJar.find(settings.text("agent"));
        if (jar == null) {
            throw new IllegalStateException(AgentJar.missing());
        }
        AgentJar.load(jar, trim ? "malloc=trim" : "");
    }

    /** On the task's thread. Its end is a listener's: that is called whether it succeeds, fails or is killed. */
    @Override
    public void onTaskStart() {
        TaskContext task = TaskContext.get();
        TaskAccounts working = accounts;
        if (working != null && task != null) {
            try {
                working.begin(task);
            } catch (RuntimeException e) {
                LOG.warn("[ebb] tasks are no longer accounted for on this executor", e); // e.g. an unknown version of DJL
                accounts = null;
            }
        }
    }

    @Override
    public void shutdown() {
        if (reporter != null) {
            reporter.close();
        }
    }
}
