package dev.ebb.djl.core;

import dev.ebb.djl.core.observe.Explanation;
import dev.ebb.djl.core.pressure.Collector;
import dev.ebb.djl.core.watching.Reclaimer;

/** What the core calls, on the thread that called it. */
final class Callbacks {

    private Callbacks() {}

    static void collect() {
        Reclaimer.collectForGovernor();
    }

    /** The core has given these back: its name and Ebb's tag of each. */
    static void end(long[] ended) {
        try {
            Reclaimer.delete(ended);
        } catch (RuntimeException e) {
            Messages.say("an array could not be deleted: " + e);
        }
    }

    static void warn(String message) {
        Explanation.ask("asked for by this warning: " + message);
        Messages.say(
                Collector.ignored()
                        ? "this JVM does not collect when asked (Shenandoah with -XX:+DisableExplicitGC): the budget cannot be"
                                + " kept, and dropped arrays come back when the JVM collects by itself"
                        : message);
    }
}
