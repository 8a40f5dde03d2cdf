package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.Memory;
import dev.ebb.djl.hooks.Hooks;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Behind the public API: whether Ebb works in this JVM, and what each call means. */
public final class EbbRuntime {

    private static final String NO_AGENT =
            "the agent is missing, so nothing is reclaimed: start with java -javaagent:ebb-djl.jar";

    private static volatile String problem = NO_AGENT; // null: Ebb works
    private static boolean traced;

    private EbbRuntime() {}

    /** Called by the agent. Throws an {@link EbbException} if Ebb cannot work here. */
    public static void start() {
        Native.load();
        Hooks.install(new HookTarget());
        problem = null;
        System.setProperty(FirstCopy.STARTED, "true");
        Properties.apply();
    }

    /** Why Ebb does nothing, for all calls that follow. */
    public static void unusable(String why) {
        problem = why;
    }

    private static void require(String call) {
        if (problem != null) {
            throw new EbbException("[" + call + "] " + problem);
        }
    }

    /** Whether the agent is another copy's: then that one answers. */
    private static boolean isSecond() {
        return problem == NO_AGENT && FirstCopy.isAnother();
    }

    /** Whether Ebb works; if not, that is said once. */
    private static boolean works() {
        String why = problem;
        if (why != null) {
            Messages.say(why);
        }
        return why == null;
    }

    public static boolean reclaim(boolean on) {
        if (isSecond()) {
            return (boolean) FirstCopy.call("reclaim", on);
        }
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
        if (isSecond()) {
            return (boolean) FirstCopy.call("isReclaiming");
        }
        return problem == null && Reclaimer.on();
    }

    public static void budget(String device, String bytes) {
        if (isSecond()) {
            FirstCopy.call("budget", device, bytes);
            return;
        }
        if (works()) {
            Devices.budget(device, bytes);
        }
    }

    public static void strict(boolean on) {
        if (isSecond()) {
            FirstCopy.call("strict", on);
            return;
        }
        if (works()) {
            Devices.strict(on);
        }
    }

    public static Memory memory() {
        long[] m = isSecond() ? (long[]) FirstCopy.call("reading") : reading();
        return new Memory(
                m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11], m[12], m[13], m[14], m[15], m[16],
                m[17], m[18]);
    }

    /** The components of {@link Memory}, in its order. */
    public static long[] reading() {
        if (!works()) {
            return new long[Memory.class.getRecordComponents().length];
        }
        Reclaimer.drain();
        long[] read = Books.read();
        return new long[] {
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
            read[Native.LONGEST_COLLECT_NANOS]
        };
    }

    public static String report(int top, boolean json) {
        if (isSecond()) {
            return (String) FirstCopy.call("report", top, json);
        }
        if (!works()) {
            return json ? "{}" : problem;
        }
        Reclaimer.drain();
        Books.read();
        return Native.report(Math.max(1, top), json);
    }

    public static void trace(boolean on) {
        if (isSecond()) {
            FirstCopy.call("trace", on);
            return;
        }
        if (!works()) {
            return;
        }
        synchronized (EbbRuntime.class) {
            if (traced != on) {
                traced = on;
                Sites.want(on);
            }
        }
    }

    public static long collect() {
        if (isSecond()) {
            return (long) FirstCopy.call("collect");
        }
        if (!works()) {
            return 0;
        }
        long before = memory().reclaimed();
        Reclaimer.collectNow();
        return memory().reclaimed() - before;
    }

    /** Starts a leak check; what it returns ends it and tells the sites of what was dropped, one for each array. */
    public static Supplier<List<String>> watchLeaks() {
        if (isSecond()) {
            return led(FirstCopy.call("watchLeaks"));
        }
        require("expectNoLeaks");
        return LeakWatch.open()::close;
    }

    @SuppressWarnings("unchecked") // as above, in the agent's copy
    private static Supplier<List<String>> led(Object check) {
        return (Supplier<List<String>>) check;
    }

    /** Entries of everything that tracks, for tests: none of it may grow with the arrays that come and go. */
    public static Map<String, Integer> tables() {
        return Map.of(
                "loose", Loose.TABLE.size(),
                "waiting", Reclaimer.waiting(),
                "pins", BufferPins.size(),
                "managers", ManagerWatch.open());
    }

    public static void audit() {
        if (isSecond()) {
            FirstCopy.call("audit");
            return;
        }
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
