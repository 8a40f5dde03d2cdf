package dev.ebb.djl.core.observe;

import dev.ebb.djl.core.watching.Reclaimer;

/** What viewers of the running process wish ({@code ebb report PID --collect --why}): asked of the core, done here. */
final class Viewers {

    /** Of {@code ebb_asked}, as bits. */
    private static final int COLLECT = 1 << 1;

    private static final int HOLDERS = 1 << 2;

    private Viewers() {}

    /** On the recording's thread. */
    static void answer(int wished) throws InterruptedException {
        if ((wished & COLLECT) != 0) {
            Reclaimer.collectNow();
        }
        if ((wished & HOLDERS) != 0) {
            Explanation.findNow(Recorder.path());
        }
    }
}
