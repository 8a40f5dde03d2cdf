package dev.ebb.djl.core.books;

import dev.ebb.djl.core.Native;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Where in the user's program an array is made: the frames outside of DJL, the JDK, Spark and Ebb. */
public final class Sites {

    private static final int FRAMES = 4;
    private static final List<String> PASSED_OVER =
            List.of(
                    "ai.djl.", "dev.ebb.djl.core.", "dev.ebb.djl.hooks.", "java.", "jdk.", "sun.", "org.apache.spark.", "scala.");
    private static final StackWalker WALKER = StackWalker.getInstance();
    private static final ConcurrentHashMap<String, Integer> INTERNED = new ConcurrentHashMap<>();
    private static volatile int wanting;

    private Sites() {}

    public static boolean wanted() {
        return wanting != 0;
    }

    /** Counts those who want sites: the user's trace, leak checks. */
    public static synchronized void want(boolean more) {
        wanting += more ? 1 : -1;
        Native.trace(wanting == 0 ? 0 : 2);
    }

    static int here() {
        String text =
                WALKER.walk(
                        frames ->
                                frames.filter(frame -> !passedOver(frame.getClassName()))
                                        .limit(FRAMES)
                                        .map(Sites::line)
                                        .collect(Collectors.joining("\n")));
        return text.isEmpty() ? 0 : INTERNED.computeIfAbsent(text, Native::siteIntern);
    }

    /** The text of a site, for messages; "" if unknown. */
    static String textOf(int site) {
        for (var entry : INTERNED.entrySet()) {
            if (entry.getValue() == site) {
                return entry.getKey();
            }
        }
        return "";
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
