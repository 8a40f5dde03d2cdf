package dev.ebb.spark;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** At the driver: what is known of one executor. What it sent last stands for all that it sent before. */
final class ExecutorBooks {

    /** Of the agent's books, what metrics and page show. */
    static final List<String> COLUMNS =
            List.of(
                    "live",
                    "liveBytes",
                    "peakLiveBytes",
                    "created",
                    "createdBytes",
                    "disposed",
                    "regionEnded",
                    "reclaimed",
                    "reclaimedBytes",
                    "orphans",
                    "collections");

    final String id;
    String host = "";
    String without; // why it runs without Ebb; null: it does not
    boolean lost;
    boolean done; // it has ended as it should, and has sent all
    long budget;
    long number = -1;
    Map<String, Long> memory = Map.of();
    Map<String, long[]> held = Map.of(); // by site: arrays and bytes
    Map<String, long[]> reclaimed = Map.of();

    ExecutorBooks(String id) {
        this.id = id;
    }

    long value(String column) {
        return memory.getOrDefault(column, 0L);
    }

    /** What it holds now: nothing any more if it is lost. */
    long liveBytes() {
        return lost ? 0 : value("liveBytes");
    }

    /** Messages may overtake each other. */
    @SuppressWarnings("unchecked") // as Messages.books makes it
    void replace(Map<?, ?> message, Map<String, long[]> heldBySite) {
        long sent = (Long) message.get("number");
        if (sent <= number) {
            return;
        }
        number = sent;
        budget = (Long) message.get("budget");
        memory = new HashMap<>((Map<String, Long>) message.get("memory"));
        reclaimed = new HashMap<>((Map<String, long[]>) message.get("reclaimed"));
        held = heldBySite;
    }
}
