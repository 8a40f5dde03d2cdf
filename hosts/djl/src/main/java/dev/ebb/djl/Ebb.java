package dev.ebb.djl;

import dev.ebb.djl.core.Control;
import dev.ebb.djl.metrics.OpenMetrics;
import java.util.Map;
import java.util.Objects;

/**
 * Gives the memory of DJL arrays back once the program has dropped them, closed or not.
 *
 * <pre>{@code
 * Ebb.reclaim(true);
 * Ebb.budget(Device.cpu(), "2GB");
 * ...
 * System.out.println(Ebb.report(10));
 * }</pre>
 *
 * <p>Needs the agent: {@code java -javaagent:ebb-djl.jar}. Without it nothing can be reclaimed soundly: the calls below
 * then say so once and do nothing, and the program runs as without Ebb.
 */
public final class Ebb {

    private Ebb() {}

    /** Switches reclaim, for the whole process, at any time. Returns whether it is on now. */
    public static boolean reclaim(boolean on) {
        return Control.current().reclaim(on);
    }

    /** Whether dropped arrays are given back. */
    public static boolean isReclaiming() {
        return Control.current().isReclaiming();
    }

    /**
     * Limits what arrays on a device may hold.
     *
     * @param device DJL's {@code Device}, or its text: {@code "cpu()"}, {@code "gpu(0)"}. (A signature that named DJL's
     *     class could not be read by reflection where DJL is in a class loader that this one cannot see.)
     * @param bytes e.g. {@code "2GB"}, {@code "512 MiB"}
     * @throws IllegalArgumentException if the text is none
     */
    public static void budget(Object device, String bytes) {
        Control.current().budget(named(device, "[budget] a device is needed"), bytes);
    }

    /** Limits what arrays on a device may hold, in bytes. */
    public static void budget(Object device, long bytes) {
        Control.current().budget(named(device, "[budget] a device is needed"), Long.toString(bytes));
    }

    private static String named(Object device, String needed) {
        return Objects.requireNonNull(device, needed).toString();
    }

    /** Beyond the budget throw an {@link EbbException} (true), or warn once and go on (false, the default). */
    public static void strict(boolean on) {
        Control.current().strict(on);
    }

    /**
     * Whose the result of an operation is (PyTorch): its first operand's manager's ({@code "first"}, as in DJL; the default),
     * or that of the operands' managers that ends first ({@code "shortest"}: the deeper one, of equals the one made last),
     * so that {@code a.add(b)} and {@code b.add(a)} go to the same and nothing escapes into a longer-lived one.
     * {@code attach}, {@code tempAttach}, {@code NDScope} and operations in place mean what they did. A capped manager
     * gets nothing.
     *
     * @throws IllegalArgumentException if the rule is none of the two
     */
    public static void ownership(String rule) {
        Control.current().ownership(null, rule);
    }

    /**
     * The same for one manager and those below it, whatever the rule for all is.
     *
     * @param manager DJL's {@code NDManager}
     */
    public static void ownership(Object manager, String rule) {
        Control.current().ownership(Objects.requireNonNull(manager, "[ownership] a manager is needed"), rule);
    }

    /** The books, exact at the time of the call. A safe point: what was dropped comes back here too. */
    public static Memory memory() {
        return Memory.of(Control.current().memory(null));
    }

    /** The same of one device, DJL's {@code Device} or its text; managers and collections are counted for all together. */
    public static Memory memory(Object device) {
        return Memory.of(Control.current().memory(named(device, "[memory] a device is needed")));
    }

    /** Who holds what, by creation site, most bytes first. Sites are known from {@link #trace} on. */
    public static String report(int top) {
        return Control.current().report(top, false);
    }

    /** {@link #report} as JSON; docs/report.md describes it. */
    public static String reportJson(int top) {
        return Control.current().report(top, true);
    }

    /** Records creation sites, the user's file and line, of the arrays made from now on. */
    public static void trace(boolean on) {
        Control.current().trace(on);
    }

    /**
     * Records what happens to arrays from now on, with the place that made some of them, into a file that the tool {@code ebb}
     * reads; docs/observe.md shows it at work. One recording a process. In the name
     * {@code %n} is the program's, {@code %p} the process's number.
     */
    public static Recording record(String file) {
        return record(file, "sampled", null);
    }

    /**
     * The same, with the mode to begin with and a limit for the file and its older parts.
     *
     * @param mode {@code "counters"}, {@code "sampled"} or {@code "full"}
     * @param most e.g. {@code "256MB"}; null: no limit
     */
    public static Recording record(String file, String mode, String most) {
        Control control = Control.current();
        control.recordStart(Objects.requireNonNull(file, "[record] a file is needed"), mode, most);
        return new Recording(control);
    }

    /**
     * What holds an array, from what is always reachable to it: {@code Shop.CACHE (HashMap) -> [] (Basket) -> .scores
     * (PtNDArray)}. What the asking thread's own methods hold is said only if there is nothing else. By a heap dump, which
     * holds the program up for a moment.
     *
     * @throws EbbException where the JVM's heap is larger than 1 GB
     */
    public static String why(Object array) {
        return Control.current().why(array, false);
    }

    /** The same, also where the heap is larger if that is wanted. */
    public static String why(Object array, boolean evenIfLarge) {
        return Control.current().why(array, evenIfLarge);
    }

    /**
     * What holds most of the arrays of each place whose text contains this, e.g. {@code "Shop.java:42"}, by one heap dump.
     * Places are known while {@link #trace} is on or a recording takes them. Empty: no array of such a place is held.
     *
     * @throws EbbException where the JVM's heap is larger than 1 GB, unless it is to be looked at even then
     */
    public static Map<String, String> holders(String place, boolean evenIfLarge) {
        return Control.current().holders(place, evenIfLarge);
    }

    /** The same in a heap of up to 1 GB. */
    public static Map<String, String> holders(String place) {
        return holders(place, false);
    }

    /**
     * Figures for monitoring as OpenMetrics text, which Prometheus reads ({@link dev.ebb.djl.metrics.OpenMetrics#TYPE}).
     * docs/jvm.md lists where else they go: JMX, Flight Recorder, Micrometer, OpenTelemetry, DJL Serving.
     */
    public static String metrics() {
        return OpenMetrics.text();
    }

    /** Asks the JVM for a collection now and gives back what it finds dropped. Returns how many arrays that were. */
    public static long collect() {
        return Control.current().collect();
    }

    /**
     * Watches for leaks until closed: arrays made meanwhile, on any thread, that were dropped without being closed.
     * Arrays that something still reaches at the end were handed out and are none.
     */
    public static LeakCheck expectNoLeaks() {
        return new LeakCheck(Control.current().watchLeaks());
    }

    /** The same for what this thread makes: where tests, tasks or requests run beside each other. */
    public static LeakCheck expectNoLeaksHere() {
        return new LeakCheck(Control.current().watchLeaksHere());
    }

    /** Checks that the books balance; throws an {@link EbbException} naming the sum that is off. */
    public static void audit() {
        Control.current().audit();
    }
}
