package dev.ebb.djl.core.books;

import dev.ebb.djl.core.watching.Reclaimer;
import dev.ebb.djl.core.watching.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** The leak checks under way, and what each has seen born. */
public final class LeakWatch {

    private static final CopyOnWriteArrayList<LeakWatch> OPEN = new CopyOnWriteArrayList<>();

    /** Born inside and not closed so far; true: dropped by the program. */
    private final ConcurrentHashMap<Watch, Boolean> unclosed = new ConcurrentHashMap<>();

    private final Thread only; // null: any thread's

    private LeakWatch(Thread only) {
        this.only = only;
    }

    /** Of what one thread makes, or, given null, any. */
    public static LeakWatch open(Thread only) {
        LeakWatch check = new LeakWatch(only);
        Sites.want(true);
        OPEN.add(check);
        return check;
    }

    public static boolean watching() {
        return !OPEN.isEmpty();
    }

    static void born(Watch watch) {
        OPEN.forEach(check -> check.born(watch, Thread.currentThread()));
    }

    private void born(Watch watch, Thread maker) {
        if (only == null || only == maker) {
            unclosed.put(watch, false);
        }
    }

    static void closed(Watch watch) {
        OPEN.forEach(check -> check.unclosed.remove(watch));
    }

    public static void dropped(Watch watch) {
        OPEN.forEach(check -> check.unclosed.replace(watch, true));
    }

    /** Ends the check; the sites of what was dropped, one for each array. */
    public List<String> close() {
        if (!OPEN.contains(this)) {
            return List.of();
        }
        Reclaimer.collectNow();
        OPEN.remove(this);
        Sites.want(false);
        List<String> sites = new ArrayList<>();
        unclosed.forEach(
                (watch, dropped) -> {
                    if (dropped) {
                        sites.add(Sites.textOf(watch.site));
                    }
                });
        return sites;
    }

    /** What to tell the user; null if nothing leaked. */
    public static String message(List<String> sites) {
        if (sites.isEmpty()) {
            return null;
        }
        Map<String, Integer> counts = new TreeMap<>();
        sites.forEach(site -> counts.merge(site, 1, Integer::sum));
        StringBuilder text = new StringBuilder();
        text.append(sites.size()).append(" array(s) were made and dropped without being closed:");
        counts.forEach(
                (site, count) ->
                        text.append("\n  ")
                                .append(count)
                                .append(" made at ")
                                .append(site.isEmpty() ? "an unknown site" : site.replace("\n", "\n      ")));
        return text.toString();
    }
}
