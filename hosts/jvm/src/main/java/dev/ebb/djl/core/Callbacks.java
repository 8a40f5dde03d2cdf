package dev.ebb.djl.core;

/** What the core calls, on the thread that called it. */
final class Callbacks {

    private Callbacks() {}

    static void collect() {
        Reclaimer.collectForGovernor();
    }

    static void warn(String message) {
        Messages.say(message);
    }
}
