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
    private static final StackWalker WALKER = StackWalker.getInstance();

    private static volatile int wanting;
    private static volatile boolean recorded; // by a recording that wants some of them, or all

    static {
        Native.passOver(PASSED_OVER.toArray(String[]::new));
    }

    private Sites() {}

    public static boolean wanted() {
        return wanting != 0;
    }

    /** Whether that of an array of so many bytes is. */
    static boolean wanted(long bytes) {
        return wanting != 0 || (recorded && Native.wantsSite(bytes));
    }

    /** Counts those who want sites: the user's trace, leak checks. */
    public static synchronized void want(boolean more) {
        wanting += more ? 1 : -1;
        Native.trace(wanting == 0 ? 0 : 2);
        Recorder.sitesAreKnown(wanting != 0);
    }

    /** A recording begins or ends to want sites. */
    public static void record(boolean some) {
        recorded = some;
    }

    static int here() {
        int most = recorded ? RECORDED_FRAMES : FRAMES;
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
