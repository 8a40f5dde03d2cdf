package dev.ebb.spark;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends the executor's books to the driver every few seconds: an executor that is killed loses what came after the last. */
final class Reporter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Reporter.class);

    private final EbbAgent agent;
    private final Settings settings;
    private final PluginContext context;
    private final Driver driver;
    private final ExecutorBudget budget;
    private final Review review;
    private final ScheduledExecutorService clock =
            Executors.newSingleThreadScheduledExecutor(
                    work -> {
                        Thread thread = new Thread(work, "ebb-report");
                        thread.setDaemon(true);
                        return thread;
                    });
    private long number;

    Reporter(
            EbbAgent agent,
            Settings settings,
            PluginContext context,
            Driver driver,
            ExecutorBudget budget,
            Review review) {
        this.agent = agent;
        this.settings = settings;
        this.context = context;
        this.driver = driver;
        this.budget = budget;
        this.review = review;
        long seconds = settings.intervalSeconds();
        clock.scheduleAtFixedRate(() -> report(false), seconds, seconds, TimeUnit.SECONDS);
    }

    private synchronized void report(boolean last) {
        try {
            review.whenIdle(last);
            var books =
                    Messages.books(
                            context,
                            last,
                            ++number,
                            budget.bytes(),
                            agent.look(),
                            agent.lookReport(settings.top(), true),
                            agent.reclaimedBySite());
            if (last) {
                driver.tell(books); // the driver may be on its way out: not waited for
            } else {
                budget.apply(driver.ask(books));
            }
        } catch (RuntimeException e) {
            LOG.debug("[ebb] a report was left out", e); // the next one has all that it had
        }
    }

    @Override
    public void close() {
        clock.shutdown();
        report(true);
    }
}
