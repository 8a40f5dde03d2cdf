package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.books.Adopted;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.books.Escapes;
import dev.ebb.djl.core.books.LeakWatch;
import dev.ebb.djl.core.books.Sites;
import dev.ebb.djl.core.books.TaskBooks;
import dev.ebb.djl.core.managers.Ownership;
import dev.ebb.djl.core.observe.FlightEvents;
import dev.ebb.djl.core.observe.Holders;
import dev.ebb.djl.core.observe.Metrics;
import dev.ebb.djl.core.observe.Recorder;
import dev.ebb.djl.core.pressure.Devices;
import dev.ebb.djl.core.watching.Loose;
import dev.ebb.djl.core.watching.ManagerWatch;
import dev.ebb.djl.core.watching.Reclaimer;
import dev.ebb.djl.hooks.Hooks;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;

/** Behind the public API, in the agent's copy: whether Ebb works in this JVM, and what each call means. */
public final class EbbRuntime implements Control {

    static final Control CONTROL = new EbbRuntime();

    private static final String NO_AGENT =
            "the agent is missing, so nothing is reclaimed: start with java -javaagent:ebb-djl.jar";

    private static volatile String problem = NO_AGENT; // null: Ebb works

    private boolean traced;

    private EbbRuntime() {}

    /** Called by the agent. Throws an {@link EbbException} if Ebb cannot work here. */
    public static void start() {
        Native.load();
        Hooks.install(new HookTarget());
        problem = null;
        System.setProperty(FirstCopy.STARTED, "true");
        tellFlightRecorder();
        Properties.apply();
    }

    private static void tellFlightRecorder() {
        try {
            FlightEvents.install();
        } catch (LinkageError e) {
            return; // a JVM without it
        }
    }

    /** Why Ebb does nothing, for all calls that follow. */
    public static void unusable(String why) {
        if (problem == null) {
            CONTROL.reclaim(false);
        }
        problem = why;
    }

    /** Whether an agent of this copy has come, however it fared. */
    static boolean hasAgent() {
        return problem != NO_AGENT;
    }

    private static void require(String call) {
        if (problem != null) {
            throw new EbbException("[" + call + "] " + problem);
        }
    }

    /** Whether Ebb works; if not, that is said once. */
    private static boolean works() {
        String why = problem;
        if (why != null) {
            Messages.say(why);
        }
        return why == null;
    }

    @Override
    public boolean reclaim(boolean on) {
        if (!works()) {
            return false;
        }
        synchronized (this) {
            Reclaimer.set(on);
        }
        Reclaimer.drain();
        return on;
    }

    @Override
    public boolean isReclaiming() {
        return problem == null && Reclaimer.on();
    }

    @Override
    public void budget(String device, String bytes) {
        if (works()) {
            Devices.budget(device, bytes);
        }
    }

    @Override
    public void strict(boolean on) {
        if (works()) {
            Devices.strict(on);
        }
    }

    @Override
    public void ownership(Object manager, String rule) {
        if (works()) {
            Ownership.set(manager, rule);
        }
    }

    @Override
    public Map<String, Long> memory(String device) {
        if (!works()) {
            return Map.of();
        }
        giveBackAll();
        return Books.read(device == null ? 0 : Devices.idOf(device));
    }

    @Override
    public String report(int top, boolean json) {
        if (!works()) {
            return json ? "{}" : problem;
        }
        giveBackAll();
        int most = Math.max(1, top);
        return Escapes.addTo(Native.report(most, json), most, json);
    }

    /** Also what is still on its way to the core. */
    private static void giveBackAll() {
        Reclaimer.drain();
        Books.flush();
        Native.drain();
    }

    @Override
    public synchronized void trace(boolean on) {
        if (works() && traced != on) {
            traced = on;
            Sites.want(on);
        }
    }

    @Override
    public long collect() {
        if (!works()) {
            return 0;
        }
        long before = memory(null).get("reclaimed");
        Reclaimer.collectNow();
        return memory(null).get("reclaimed") - before;
    }

    @Override
    public Supplier<List<String>> watchLeaks() {
        require("expectNoLeaks");
        return LeakWatch.open(null)::close;
    }

    @Override
    public Supplier<List<String>> watchLeaksHere() {
        require("expectNoLeaksHere");
        return LeakWatch.open(Thread.currentThread())::close;
    }

    @Override
    public Map<String, Long> look() {
        if (!works()) {
            return Map.of();
        }
        return Books.read();
    }

    @Override
    public String lookReport(int top, boolean json) {
        if (!works()) {
            return json ? "{}" : problem;
        }
        Books.flush();
        return Native.report(Math.max(1, top), json);
    }

    @Override
    public Function<Boolean, Map<String, Long>> openTask(String name) {
        require("openTask");
        return TaskBooks.begin(name)::counts;
    }

    @Override
    public Map<String, long[]> reclaimedBySite() {
        return TaskBooks.reclaimedBySite();
    }

    @Override
    public boolean tasksToReview() {
        return TaskBooks.toReview();
    }

    @Override
    public List<Map<String, Object>> reviewTasks() {
        return works() ? TaskBooks.review() : List.of();
    }

    @Override
    public void audit() {
        require("audit");
        Books.flush();
        String off = Native.audit();
        if (off != null) {
            throw new EbbException(off);
        }
        Map<String, Long> books = memory(null);
        long sum = 0;
        for (String end : List.of("live", "disposed", "regionEnded", "reclaimed", "shutdown")) {
            sum += books.get(end);
        }
        if (books.get("created") != sum) {
            throw new EbbException("[audit] created is not the sum of what became of it: " + books);
        }
    }

    @Override
    public void recordStart(String file, String how, String most) {
        require("record");
        Recorder.start(file, how, most);
    }

    @Override
    public void recordMode(String how) {
        require("record");
        Recorder.mode(how);
    }

    @Override
    public void recordMark(String text) {
        require("record");
        Recorder.mark(text);
    }

    @Override
    public void recordStop() {
        require("record");
        Recorder.stop();
    }

    @Override
    public List<Map<String, Object>> metrics() {
        return works() ? Metrics.read() : List.of();
    }

    @Override
    public long parse(String size) {
        require("parse");
        return Devices.parse(size);
    }

    @Override
    public String why(Object array, boolean evenIfLarge) {
        require("why");
        return Holders.of(Objects.requireNonNull(array, "[why] an array is needed"), evenIfLarge);
    }

    @Override
    public Map<String, String> holders(String place, boolean evenIfLarge) {
        require("holders");
        return Holders.ofPlaces(Objects.requireNonNull(place, "[holders] a place is needed"), evenIfLarge);
    }

    /** Entries of everything that tracks, for tests: none of it may grow with the arrays that come and go. */
    public static Map<String, Integer> tables() {
        return Map.of(
                "loose", Loose.TABLE.size(),
                "adopted", Adopted.size(),
                "managers", ManagerWatch.open(),
                "tasks", TaskBooks.waiting());
    }
}
