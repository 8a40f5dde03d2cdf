package dev.ebb.djl.core.observe;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.Messages;
import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.watching.Reclaimer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Says what a recording shows: flat or growing, how fast, which line made it, and what holds it. Growth is what is left
 * after collections, so some are asked for. It is looked for while the program runs: what its threads' methods hold is gone
 * at its end, and often all is closed there. A place is named when two looks in a row have found it growing. Off unless
 * asked for.
 */
public final class Explanation {

    private static final long SECOND = 1_000_000_000L;
    private static final long COLLECT_EACH = SECOND / 2;
    private static final int COLLECT_SHARE = 20; // at most one of so many nanoseconds
    private static final int LOOK_SHARE = 4; // the next look is after so much of the time so far

    private static final int LONGEST = 1000; // letters, of 4 bytes at most

    private static volatile boolean on;
    private static volatile String asked; // why somebody wants to hear now; null: nobody
    private static String whyWhen = "usual";
    private static long firstLook = 5 * SECOND;
    private static long began;
    private static long nextLook;
    private static long nextCollection;
    private static long created; // when last collected
    private static Finding last; // of the looks while the program ran; null: there was none
    private static Finding said;

    /** By the text of a place that grows. */
    private static final Map<String, String> HOLDERS = new HashMap<>();

    private Explanation() {}

    /** From the recording's start on, if there is one. */
    public static void want(boolean wanted) {
        on = wanted;
    }

    /** How long after the start what grows is looked at first; then again and again, less and less often. */
    public static void firstLook(double seconds) {
        firstLook = (long) (seconds * SECOND);
    }

    /** Whether holders are looked for: "usual", in a heap of up to 1 GB; "always"; "never". */
    public static void why(String when) {
        whyWhen = when;
    }

    /** Something happened that a person will want explained: past the budget, out of memory. */
    public static void ask(String why) {
        if (on) {
            asked = why;
        }
    }

    /** Ten times a second, on the recording's thread. */
    static void turn() throws InterruptedException {
        if (!on) {
            return;
        }
        long now = System.nanoTime();
        if (began == 0) {
            began = now;
            nextLook = now + firstLook;
        }
        if (now >= nextCollection) {
            collect(now);
        }
        String why = asked;
        if (now >= nextLook || why != null) {
            asked = null;
            look(Recorder.path(), why);
            nextLook = System.nanoTime() + Math.max(SECOND, (now - began) / LOOK_SHARE);
        }
    }

    private static void collect(long now) {
        long births = Books.read().get("created");
        if (births != created) {
            created = births;
            Reclaimer.collectNow();
            nextCollection = now + Math.max(COLLECT_EACH, COLLECT_SHARE * (System.nanoTime() - now));
        }
    }

    /** Says what is news: a place that grows steadily; or all, where somebody asked. */
    private static synchronized void look(String file, String why) throws InterruptedException {
        if (file == null) {
            return;
        }
        try {
            Finding now = Finding.read(file);
            Set<String> before = last == null ? Set.of() : sitesOf(last);
            last = now;
            List<String> steady = sitesOf(now).stream().filter(before::contains).toList();
            boolean news = findHolders(steady);
            if (news || why != null) {
                say(why == null ? "" : why + "\n", now, file);
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            Messages.say("the recording could not be explained: " + e.getMessage());
        }
    }

    /** A viewer wants to know what holds what grows. What cannot be found is not in the recording: the viewer sees that. */
    static synchronized void findNow(String file) throws InterruptedException {
        if (file == null) {
            return;
        }
        try {
            Books.flush();
            findHolders(List.copyOf(sitesOf(Finding.read(file))));
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            Messages.say("what holds them could not be found: " + e.getMessage());
        }
    }

    /** The program has ended, its recording not yet: holders that are found now are in it, and so in its page. */
    static void beforeExit(String file) {
        if (!on) {
            return;
        }
        try {
            findNow(file);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** After the recording's end. */
    static synchronized void atExit(String file) {
        if (!on || file == null) {
            return;
        }
        try {
            Finding end = Finding.read(file);
            if (!end.growing() && last != null && last.growing()) {
                if (!last.equals(said)) {
                    say("Until the end, where it was let go:\n", last, file);
                }
                say("At the end: ", end, file);
            } else {
                findHolders(List.copyOf(sitesOf(end)));
                say("", end, file);
            }
            String page = file.replaceFirst("\\.ebbrec$", "") + ".html";
            Tool.run("report", file, "--html", page);
            System.err.print("report: " + page + "\n");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            Messages.say("the recording could not be explained: " + e.getMessage());
        }
    }

    private static void say(String head, Finding finding, String file) {
        said = finding;
        System.err.print("[ebb] " + head + finding.text(HOLDERS) + "recording: " + file + "\n");
    }

    private static Set<String> sitesOf(Finding finding) {
        return finding.places().stream().map(Finding.Place::site).collect(Collectors.toSet());
    }

    /** Of those places of which they are not known yet. Whether there was one. */
    private static boolean findHolders(List<String> places) throws Exception {
        Map<Integer, String> sites = new LinkedHashMap<>();
        for (String place : places) {
            if (!HOLDERS.containsKey(place)) {
                sites.put(Native.siteIntern(place), place);
            }
        }
        if (sites.isEmpty()) {
            return false;
        }
        boolean never = whyWhen.equals("never");
        if (never || (Holders.tooLarge() && !whyWhen.equals("always"))) {
            String reason = never ? "as was asked" : Holders.WHY_NOT + " (--why looks all the same)";
            sites.values().forEach(place -> HOLDERS.put(place, "not looked for: " + reason));
            return true;
        }
        Map<Integer, String> found = Holders.ofSites(sites.keySet());
        sites.forEach((site, place) -> HOLDERS.put(place, found.getOrDefault(site, "nothing any more")));
        found.forEach(Explanation::note);
        return true;
    }

    /** In the recording as well; one that has ended or given up takes none. */
    private static void note(int site, String holder) {
        try {
            Native.recordHolder(site, holder.substring(0, Math.min(holder.length(), LONGEST)));
        } catch (EbbException e) {
            return;
        }
    }
}
