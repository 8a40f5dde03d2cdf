package dev.ebb.djl.core.books;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.observe.Recorder;
import java.util.List;
import java.util.stream.Collectors;

/** Where in the user's program an array is made: the frames outside of DJL, the JDK, Spark and Ebb. */
public final class Sites {

    private static final int FRAMES = 4;
    private static final int RECORDED_FRAMES = 8;
    private static final List<String> PASSED_OVER =
            List.of(
                    "ai.djl.", "dev.ebb.djl.core.", "dev.ebb.djl.hooks.", "java.", "jdk.", "sun.", "org.apache.spark.", "scala.");
    private static final int SAMPLED = 2; // of ebb_record_mode
    private static final StackWalker WALKER = StackWalker.getInstance();

    private static volatile int wanting;
    private static volatile int recorded; // the mode of a recording that wants some of them, or all; else 0
    private static final ThreadLocal<OfThread> OF_THREAD = ThreadLocal.withInitial(OfThread::new);

    private static final class OfThread {
        final Sampling sampling = new Sampling();
        final Guesses guesses = new Guesses();
    }

    static {
        Native.passOver(PASSED_OVER.toArray(String[]::new));
    }

    private Sites() {}

    public static boolean wanted() {
        return wanting != 0;
    }

    /** That of an array of so many bytes which is made here; 0: nobody wants it. */
    static int of(long bytes) {
        if (wanting != 0) {
            return here();
        }
        int mode = recorded;
        if (mode < SAMPLED) {
            return 0;
        }
        OfThread thread = OF_THREAD.get();
        thread.guesses.born(bytes);
        // A viewer may have made it sampled since: the core knows.
        if (mode == SAMPLED ? !thread.sampling.wants(bytes) : !Native.wantsSite(bytes)) {
            return 0;
        }
        if (bytes >= Sampling.MEAN) { // they are few, and matter most
            return here();
        }
        return mode == SAMPLED ? thread.guesses.any(Sites::here) : thread.guesses.afterLast(Sites::here);
    }

    /** Counts those who want sites: the user's trace, leak checks. */
    public static synchronized void want(boolean more) {
        wanting += more ? 1 : -1;
        Native.trace(wanting == 0 ? 0 : 2);
        Recorder.sitesAreKnown(wanting != 0);
    }

    public static int recorded() {
        return recorded;
    }

    /** A recording is in this mode now; 0: there is none. */
    public static void record(int mode) {
        recorded = mode;
    }

    static int here() {
        int most = recorded >= SAMPLED ? RECORDED_FRAMES : FRAMES;
        int site = Native.siteHere(most);
        return site >= 0 ? site : walked(most);
    }

    /** Where JVMTI does not tell. */
    private static int walked(int most) {
        String text =
                WALKER.walk(
                        frames ->
                                frames.filter(frame -> !passedOver(frame.getClassName()))
                                        .limit(most)
                                        .map(Sites::line)
                                        .collect(Collectors.joining("\n")));
        return text.isEmpty() ? 0 : Native.siteIntern(text);
    }

    /** The text of a site, for messages; "" if unknown. */
    static String textOf(int site) {
        return Native.siteText(site);
    }

    private static boolean passedOver(String type) {
        for (String prefix : PASSED_OVER) {
            if (type.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    private static String line(StackWalker.StackFrame frame) {
        String type = frame.getClassName();
        return type.substring(type.lastIndexOf('.') + 1)
                + "."
                + frame.getMethodName()
                + " ("
                + frame.getFileName()
                + ":"
                + frame.getLineNumber()
                + ")";
    }
}
