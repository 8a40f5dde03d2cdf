package dev.ebb.spark;

import java.util.HashMap;
import java.util.Map;

/**
 * Which tasks have the lines recorded that make arrays: that walks the stack for every array. Sampling takes the first task of
 * each stage on an executor and one in sixteen of those that follow; once a task has kept something that was not traced, all of
 * them. While a traced task runs, those beside it are traced as well.
 */
final class Tracing {

    private static final int ONE_IN = 16;
    private static final int MOST_STAGES = 64;

    private final EbbAgent agent;
    private final boolean sampling;
    private final Map<Integer, Integer> begun = new HashMap<>(); // tasks by stage
    private int tracing;
    private boolean suspicious;

    Tracing(EbbAgent agent, String mode) {
        this.agent = agent;
        sampling = mode.equals("sample");
        agent.trace(mode.equals("true"));
    }

    /** Whether this task is one that is traced: then {@link #end} must follow. */
    synchronized boolean begin(int stage) {
        if (!sampling) {
            return false;
        }
        if (begun.size() > MOST_STAGES) {
            begun.clear();
        }
        boolean traced = begun.merge(stage, 1, Integer::sum) % ONE_IN == 1 || suspicious;
        if (traced && tracing++ == 0) {
            agent.trace(true);
        }
        return traced;
    }

    synchronized void end() {
        if (--tracing == 0) {
            agent.trace(false);
        }
    }

    /** A task kept something, and nobody knows which line made it. */
    synchronized void suspect() {
        suspicious = true;
    }
}
