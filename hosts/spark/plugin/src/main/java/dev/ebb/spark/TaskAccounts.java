package dev.ebb.spark;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectStreamClass;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Each task is a region: what it made is counted for its stage, and what it left behind is reviewed. */
final class TaskAccounts {

    private static final Logger LOG = LoggerFactory.getLogger(TaskAccounts.class);
    private static final int MOST_STAGES = 64;
    private static final byte[] NONE = {};

    private final EbbAgent agent;
    private final Settings settings;
    private final Driver driver;
    private final Review review;
    private final Tracing tracing;
    private final ConcurrentHashMap<Integer, byte[]> sums = new ConcurrentHashMap<>();

    TaskAccounts(EbbAgent agent, Settings settings, Driver driver, Review review, Tracing tracing) {
        this.agent = agent;
        this.settings = settings;
        this.driver = driver;
        this.review = review;
        this.tracing = tracing;
    }

    void begin(TaskContext task) {
        Function<Boolean, Map<String, Long>> region = agent.openTask(nameOf(task));
        boolean traced = tracing.begin(task.stageId());
        review.begun();
        task.addTaskCompletionListener((TaskCompletionListener) ended -> end(ended, region.apply(true), traced));
    }

    private static String nameOf(TaskContext task) {
        return "task " + task.partitionId() + "." + task.attemptNumber() + " in stage " + task.stageId() + "."
                + task.stageAttemptNumber() + " (TID " + task.taskAttemptId() + ")";
    }

    /** In a listener of Spark's: what it throws fails the task. */
    private void end(TaskContext task, Map<String, Long> counts, boolean traced) {
        try {
            if (traced) {
                tracing.end();
            }
            if (counts.get("made") != 0 && !task.isInterrupted()) {
                count(task, counts);
            }
            review.ended(counts);
        } catch (RuntimeException e) {
            LOG.warn("[ebb] {} is not fully accounted for", nameOf(task), e);
        }
        requireClosed(task, counts);
    }

    private void requireClosed(TaskContext task, Map<String, Long> counts) {
        long dropped = counts.get("made") - counts.get("closed");
        if (dropped != 0 && settings.text("leaks").equals("fail") && !task.isInterrupted() && !task.isFailed()) {
            throw new IllegalStateException(
                    "[ebb] " + nameOf(task) + " did not close " + dropped + " of the " + counts.get("made")
                            + " arrays that it made (spark.ebb.leaks=fail)");
        }
    }

    /** An accumulator that is read on a task's thread belongs to the task, as those in its closure do. */
    private void count(TaskContext task, Map<String, Long> counts) {
        byte[] written = sumsOf(task);
        if (written.length == 0) {
            return;
        }
        try (ObjectInputStream in = new PluginClasses(written)) {
            for (String column : StageSums.COLUMNS) {
                ((StageSum) in.readObject()).set(task.partitionId(), StageSums.value(column, counts));
            }
        } catch (IOException | ClassNotFoundException | RuntimeException e) {
            LOG.warn("[ebb] {} is not counted for its stage", nameOf(task), e);
        }
    }

    private byte[] sumsOf(TaskContext task) {
        if (sums.size() > MOST_STAGES) {
            sums.clear();
        }
        byte[] known = sums.get(task.stageId());
        if (known == null) {
            Map<?, ?> answer = driver.ask(Messages.stage(task.stageId(), task.stageAttemptNumber()));
            known = answer.get("sums") instanceof byte[] written ? written : NONE;
            if (known.length != 0) {
                sums.put(task.stageId(), known);
            }
        }
        return known;
    }

    /** Reads {@link StageSum} with the plugin's own class loader, whatever loader the thread has. */
    private static final class PluginClasses extends ObjectInputStream {
        PluginClasses(byte[] written) throws IOException {
            super(new ByteArrayInputStream(written));
        }

        @Override
        protected Class<?> resolveClass(ObjectStreamClass type) throws IOException, ClassNotFoundException {
            try {
                return Class.forName(type.getName(), false, TaskAccounts.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                return super.resolveClass(type);
            }
        }
    }
}
