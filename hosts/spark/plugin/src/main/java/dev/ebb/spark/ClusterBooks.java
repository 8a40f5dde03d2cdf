package dev.ebb.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** At the driver: the books of all executors, of those that were lost too. */
final class ClusterBooks {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MOST_KEPT = 200;
    private static final int MOST_SITES = 10_000;

    /** A task that left arrays which something still reached. */
    record Kept(String executor, String task, Map<String, long[]> lines) {}

    /** A line of the program: what Ebb gave back of it, what it holds now, and the most it was seen to hold at once. */
    static final class Site {
        final String text;
        long reclaimed;
        long reclaimedBytes;
        long held;
        long heldBytes;
        long mostBytes;

        Site(String text) {
            this.text = text;
        }
    }

    private final Map<String, ExecutorBooks> executors = new LinkedHashMap<>();
    private final Map<String, Long> mostBySite = new HashMap<>();
    private final Deque<Kept> kept = new ArrayDeque<>();
    private long keptTasks;

    private ExecutorBooks of(Map<?, ?> message) {
        return executors.computeIfAbsent((String) message.get("executor"), ExecutorBooks::new);
    }

    synchronized void added(String executor, String host) {
        executors.computeIfAbsent(executor, ExecutorBooks::new).host = host;
    }

    synchronized void hello(Map<?, ?> message) {
        of(message);
    }

    synchronized void without(Map<?, ?> message) {
        of(message).without = (String) message.get("why");
    }

    synchronized void books(Map<?, ?> message) {
        of(message).replace(message, sitesOf((String) message.get("report")));
        Map<String, Long> now = new HashMap<>();
        for (ExecutorBooks each : executors.values()) {
            if (!each.lost) {
                each.held.forEach((site, sum) -> now.merge(site, sum[1], Long::sum));
            }
        }
        now.forEach(
                (site, bytes) -> {
                    if (mostBySite.size() < MOST_SITES || mostBySite.containsKey(site)) {
                        mostBySite.merge(site, bytes, Math::max);
                    }
                });
    }

    @SuppressWarnings("unchecked") // as Messages.kept makes it
    synchronized void kept(Map<?, ?> message) {
        keptTasks++;
        kept.addFirst(
                new Kept(
                        (String) message.get("executor"),
                        (String) message.get("name"),
                        (Map<String, long[]>) message.get("lines")));
        if (kept.size() > MOST_KEPT) {
            kept.removeLast();
        }
    }

    synchronized void lost(String executor) {
        ExecutorBooks known = executors.get(executor);
        if (known != null && !known.done) {
            known.lost = true;
            notifyAll();
        }
    }

    synchronized void done(String executor) {
        executors.get(executor).done = true;
        notifyAll();
    }

    /** Until every executor that works has sent its last books, or this time is over. */
    synchronized void awaitDone(long millis) {
        long until = System.nanoTime() + millis * 1_000_000;
        try {
            for (long left; (left = (until - System.nanoTime()) / 1_000_000) > 0 && anyAwaited(); ) {
                wait(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean anyAwaited() {
        return executors.values().stream().anyMatch(each -> !each.lost && !each.done && each.without == null && each.number >= 0);
    }

    private static Map<String, long[]> sitesOf(String report) {
        Map<String, long[]> sites = new HashMap<>();
        try {
            for (JsonNode site : JSON.readTree(report).path("sites")) {
                sites.put(
                        site.path("text").asText(""), new long[] {site.path("tensors").asLong(), site.path("bytes").asLong()});
            }
        } catch (JsonProcessingException e) {
            return Map.of(); // of another version: the books are still good
        }
        return sites;
    }

    // ---- for the page and the report

    synchronized List<ExecutorBooks> executors() {
        return new ArrayList<>(executors.values());
    }

    synchronized List<Kept> kept() {
        return new ArrayList<>(kept);
    }

    synchronized long keptTasks() {
        return keptTasks;
    }

    /** Over all executors; what one lost holds is gone with it, what it made and gave back is not. */
    synchronized long sum(String column) {
        boolean held = column.equals("live") || column.equals("liveBytes") || column.equals("orphans");
        return executors.values().stream().filter(each -> !held || !each.lost).mapToLong(each -> each.value(column)).sum();
    }

    /** Those that hold most now, or held most, first. */
    synchronized List<Site> sites() {
        Map<String, Site> all = new HashMap<>();
        mostBySite.forEach((text, bytes) -> site(all, text).mostBytes = bytes);
        for (ExecutorBooks each : executors.values()) {
            each.reclaimed.forEach(
                    (text, sum) -> {
                        site(all, text).reclaimed += sum[0];
                        site(all, text).reclaimedBytes += sum[1];
                    });
            if (!each.lost) {
                each.held.forEach(
                        (text, sum) -> {
                            site(all, text).held += sum[0];
                            site(all, text).heldBytes += sum[1];
                        });
            }
        }
        List<Site> sites = new ArrayList<>(all.values());
        sites.sort(
                Comparator.<Site>comparingLong(site -> site.heldBytes)
                        .thenComparingLong(site -> site.mostBytes)
                        .thenComparingLong(site -> site.reclaimedBytes)
                        .reversed());
        return sites;
    }

    private static Site site(Map<String, Site> all, String text) {
        return all.computeIfAbsent(text, Site::new);
    }
}
