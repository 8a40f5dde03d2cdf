package dev.ebb.djl.core.pressure;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.observe.Explanation;
import dev.ebb.djl.core.watching.Reclaimer;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An engine's out-of-memory error: the ladder, one more try, and then the error with the sites. */
public final class OutOfMemory {

    private static final Pattern ASKED =
            Pattern.compile("(?:tried to allocate|requested buffer of size) (\\d+)", Pattern.CASE_INSENSITIVE);
    private static final int SITES = 5;
    private static final String MARK = "[ebb]";

    private OutOfMemory() {}

    /** Null if room was made and the operation should run again, otherwise what to throw. */
    public static Throwable handle(Throwable thrown, boolean again) {
        if (!isOne(thrown)) {
            return thrown;
        }
        if (again) {
            return explained(thrown, "it was tried twice");
        }
        return makeRoom(asked(thrown)) ? null : explained(thrown, "nothing could be given back");
    }

    /** What to throw where the operation must not run twice. There is room for what the program does next. */
    public static Throwable explain(Throwable thrown) {
        if (!isOne(thrown)) {
            return thrown;
        }
        makeRoom(asked(thrown));
        return explained(thrown, "it is not tried twice");
    }

    /** Not one that has been told already, further down. */
    private static boolean isOne(Throwable thrown) {
        String text = String.valueOf(thrown.getMessage()).toLowerCase(Locale.ROOT);
        return Reclaimer.on() && !text.contains(MARK) && isOutOfMemory(text);
    }

    private static boolean isOutOfMemory(String text) {
        return text.contains("out of memory")
                || text.contains("not enough memory")
                || text.contains("can't allocate memory")
                || text.contains("failed to allocate memory")
                || text.contains("oom when allocating")
                || text.contains("bad_alloc");
    }

    private static long asked(Throwable thrown) {
        Matcher bytes = ASKED.matcher(String.valueOf(thrown.getMessage()));
        return bytes.find() && bytes.group(1).length() < 19 ? Long.parseLong(bytes.group(1)) : 1;
    }

    private static boolean makeRoom(long bytes) {
        long before = Books.read().get("live");
        Reclaimer.drain();
        Books.flush();
        Native.makeRoom(Devices.any(), bytes);
        return Books.read().get("live") < before;
    }

    private static Throwable explained(Throwable thrown, String how) {
        Explanation.ask("out of memory: " + how);
        String text = thrown.getMessage() + "\n" + MARK + " " + how + ". " + Native.report(SITES, false);
        try {
            return thrown.getClass().getConstructor(String.class, Throwable.class).newInstance(text, thrown);
        } catch (ReflectiveOperationException e) {
            thrown.addSuppressed(new IllegalStateException(text));
            return thrown;
        }
    }
}
