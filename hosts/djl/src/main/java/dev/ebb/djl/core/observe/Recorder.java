package dev.ebb.djl.core.observe;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.Messages;
import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.books.Sites;
import dev.ebb.djl.core.pressure.Devices;
import java.io.IOException;
import java.util.List;
import java.util.Locale;

/**
 * The recording of this process, while there is one. The core writes it; here is what only the host can do: births and ends
 * that wait in their stripes are booked ten times a second, by a thread that lives as long as the recording, and the JVM's
 * heap is told.
 */
public final class Recorder {

    /** As {@code ebb_record_mode} numbers them. */
    private static final List<String> MODES = List.of("off", "counters", "sampled", "full");

    private static final int TURN_MS = 100;

    // Marks by which the tool tells the program's own time from what Ebb takes of it.
    private static final String STANDS_STILL = "the program stands still";
    private static final String GOES_ON = "the program goes on";
    private static final String PROGRAM_ENDS = "the program ends";

    private static final int MODE = 4; // in what Native.recordInfo tells

    private static String path; // null: none
    private static String mode;
    private static Thread thread;
    private static boolean hooked;

    private Recorder() {}

    /**
     * Begins one.
     *
     * @param file where; {@code %n} is the program's name, {@code %p} the process's number
     * @param how counters, sampled or full
     * @param most bytes of the file and its older parts, as text; null: no limit
     */
    public static synchronized void start(String file, String how, String most) {
        int number = number(how);
        String named =
                file.replace("%n", simpleName()).replace("%p", Long.toString(ProcessHandle.current().pid()));
        Native.recordStart(named, program(), fitting(number, Sites.wanted()), most == null ? 0 : Devices.parse(most));
        path = named;
        mode = MODES.get(number);
        Sites.record(fitting(number, Sites.wanted()));
        thread = new Thread(Recorder::turns, "ebb-recording");
        thread.setDaemon(true);
        thread.start();
        if (!hooked) {
            hooked = true;
            Runtime.getRuntime().addShutdownHook(new Thread(Recorder::atExit, "ebb-recording-end"));
        }
    }

    private static int number(String how) {
        int number = MODES.indexOf(how.toLowerCase(Locale.ROOT));
        if (number < 1) {
            throw new IllegalArgumentException(
                    "[record] '" + how + "' was given, counters, sampled and full are allowed");
        }
        return number;
    }

    /** The class that was started, without its arguments. */
    private static String program() {
        return System.getProperty("sun.java.command", "java").split(" ", 2)[0];
    }

    private static String simpleName() {
        String name = program().replaceFirst(".*[/\\\\]", "").replaceFirst("\\.jar$", "");
        return name.substring(name.lastIndexOf('.') + 1);
    }

    public static synchronized void mode(String how) {
        int number = number(how);
        int fitting = fitting(number, Sites.wanted());
        // While the core samples, a place counts for many arrays: those of which each has one are booked outside of that.
        if (fitting < Sites.recorded()) {
            Sites.record(fitting);
        }
        Books.flush();
        Native.recordMode(fitting);
        mode = MODES.get(number);
        Sites.record(fitting);
    }

    /** Where every array gets its site there is nothing to sample: each would count for others, too. */
    private static int fitting(int number, boolean allSites) {
        return number == MODES.indexOf("sampled") && allSites ? MODES.indexOf("full") : number;
    }

    /** Somebody else wants every array's site, or does not any more. */
    public static synchronized void sitesAreKnown(boolean all) {
        if (path != null) {
            Native.recordMode(fitting(number(mode), all));
        }
    }

    public static void mark(String text) {
        Books.flush();
        Native.recordMark(text);
    }

    /** What Ebb does while it holds the program up. */
    interface Look {
        void look() throws IOException;
    }

    static void whileItStandsStill(Look look) throws IOException {
        markIfRecorded(STANDS_STILL);
        try {
            look.look();
        } finally {
            markIfRecorded(GOES_ON);
        }
    }

    private static void markIfRecorded(String text) {
        try {
            mark(text);
        } catch (EbbException e) {
            return; // there is none, or it had to give up
        }
    }

    /** Its file; null if there is none. */
    public static synchronized String path() {
        return path;
    }

    public static synchronized String mode() {
        return path == null ? "off" : mode;
    }

    /** Ends it; nothing if there is none. Throws an {@link EbbException} where it had to give up, and why. */
    public static synchronized void stop() {
        if (path == null) {
            return;
        }
        Books.flush();
        Sites.record(0);
        path = null;
        thread.interrupt();
        Native.recordStop();
    }

    private static void turns() {
        try {
            while (Thread.currentThread() == current()) {
                Books.flush();
                Runtime runtime = Runtime.getRuntime();
                Native.hostHeap(runtime.totalMemory() - runtime.freeMemory());
                Sites.record((int) Native.recordInfo()[MODE]); // viewers change it, too
                Viewers.answer(Native.liveAsked());
                Explanation.turn();
                Thread.sleep(TURN_MS);
            }
        } catch (InterruptedException e) {
            return; // stopped
        }
    }

    private static synchronized Thread current() {
        return path == null ? null : thread;
    }

    private static void atExit() {
        String last = path();
        markIfRecorded(PROGRAM_ENDS);
        Explanation.beforeExit(last);
        try {
            stop();
        } catch (EbbException e) {
            Messages.say(e.getMessage());
        }
        Explanation.atExit(last);
    }
}
