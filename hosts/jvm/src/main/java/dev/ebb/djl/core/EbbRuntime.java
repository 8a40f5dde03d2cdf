package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.Memory;
import dev.ebb.djl.hooks.Hooks;

/** Behind the public API: whether Ebb works in this JVM, and what each call means. */
public final class EbbRuntime {

    private static final String NO_AGENT =
            "the agent is missing, so nothing is reclaimed: start with java -javaagent:ebb-djl.jar";

    private static final String TWO_COPIES =
            "this is a second copy of ebb-djl, and the agent works with the first: leave the second out of the"
                    + " application, or load it from its parent";

    private static final String STARTED = "dev.ebb.djl.started";

    private static volatile String problem = NO_AGENT; // null: Ebb works
    private static boolean traced;

    private EbbRuntime() {}

    /** Called by the agent. Throws an {@link EbbException} if Ebb cannot work here. */
    public static void start() {
        Native.load();
        Hooks.install(new HookTarget());
        problem = null;
        System.setProperty(STARTED, "true");
        Properties.apply();
    }

    /** Why Ebb does nothing, for all calls that follow. */
    public static void unusable(String why) {
        problem = why;
    }

    static void require(String call) {
        String why = problem();
        if (why != null) {
            throw new EbbException("[" + call + "] " + why);
        }
    }

    private static String problem() {
        String why = problem;
        // An agent that started, in a copy of Ebb that was not: it is another copy's.
        return why == NO_AGENT && System.getProperty(STARTED) != null ? TWO_COPIES : why;
    }

    /** Whether Ebb works; if not, that is said once. */
    private static boolean works() {
        String why = problem();
        if (why != null) {
            Messages.say(why);
        }
        return why == null;
    }

    public static boolean reclaim(boolean on) {
        if (!works()) {
            return false;
        }
        synchronized (EbbRuntime.class) {
            Reclaimer.set(on);
        }
        Reclaimer.drain();
        return on;
    }

    public static boolean isReclaiming() {
        return problem == null && Reclaimer.on();
    }

    public static void budget(String device, String bytes) {
        if (works()) {
            Devices.budget(device, bytes);
        }
    }

    public static void strict(boolean on) {
        if (works()) {
            Devices.strict(on);
        }
    }

    public static Memory memory() {
        if (!works()) {
            return new Memory(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        }
        Reclaimer.drain();
        long[] read = Books.read();
        return new Memory(
                read[Native.CREATED],
                read[Native.LIVE],
                read[Native.DISPOSED],
                read[Native.REGION_ENDED],
                read[Native.RECLAIMED],
                read[Native.SHUTDOWN],
                read[Native.ORPHANS],
                read[Native.CREATED_BYTES],
                read[Native.LIVE_BYTES],
                read[Native.DISPOSED_BYTES],
                read[Native.REGION_ENDED_BYTES],
                read[Native.RECLAIMED_BYTES],
                read[Native.SHUTDOWN_BYTES],
                read[Native.PEAK_LIVE],
                read[Native.PEAK_LIVE_BYTES],
                ManagerWatch.open(),
                read[Native.COLLECTIONS],
                read[Native.COLLECT_NANOS],
                read[Native.LONGEST_COLLECT_NANOS]);
    }

    public static String report(int top, boolean json) {
        if (!works()) {
            return json ? "{}" : problem();
        }
        Reclaimer.drain();
        Books.read();
        return Native.report(Math.max(1, top), json);
    }

    public static synchronized void trace(boolean on) {
        if (works() && traced != on) {
            traced = on;
            Sites.want(on);
        }
    }

    public static long collect() {
        if (!works()) {
            return 0;
        }
        long before = memory().reclaimed();
        Reclaimer.collectNow();
        return memory().reclaimed() - before;
    }

    /** Entries of everything that tracks, for tests: none of it may grow with the arrays that come and go. */
    public static java.util.Map<String, Integer> tables() {
        return java.util.Map.of(
                "loose", Loose.TABLE.size(),
                "waiting", Reclaimer.waiting(),
                "pins", BufferPins.size(),
                "managers", ManagerWatch.open());
    }

    public static void audit() {
        require("audit");
        Books.flush();
        String off = Native.audit();
        if (off != null) {
            throw new EbbException(off);
        }
        Memory m = memory();
        if (m.created() != m.live() + m.disposed() + m.regionEnded() + m.reclaimed() + m.shutdown()) {
            throw new EbbException("[audit] created is not the sum of what became of it: " + m);
        }
    }
}
