package dev.ebb.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BooksTest {

    private final ClusterBooks books = new ClusterBooks();

    private static Map<String, Object> message(String executor, long number, long live, long reclaimed, String site) {
        Map<String, Object> message = new HashMap<>();
        message.put("executor", executor);
        message.put("number", number);
        message.put("budget", 100L);
        message.put("memory", new HashMap<>(Map.of("liveBytes", live, "reclaimedBytes", reclaimed, "peakLiveBytes", live)));
        message.put("report", "{\"sites\": [{\"text\": \"" + site + "\", \"tensors\": 1, \"bytes\": " + live + "}]}");
        message.put("reclaimed", new HashMap<>(Map.of(site, new long[] {1, reclaimed})));
        return message;
    }

    @Test
    void aLaterMessageStandsInPlaceOfAnEarlierOne() {
        books.books(message("0", 1, 10, 100, "a"));
        books.books(message("0", 3, 30, 300, "a"));
        books.books(message("0", 2, 20, 200, "a")); // overtaken
        books.books(message("1", 1, 5, 50, "a"));
        assertEquals(35, books.sum("liveBytes"));
        assertEquals(350, books.sum("reclaimedBytes"));
        assertEquals(350, books.sites().get(0).reclaimedBytes);
        assertEquals(35, books.sites().get(0).mostBytes);
    }

    @Test
    void aLostExecutorHoldsNothingAndKeepsWhatItDid() {
        books.books(message("0", 1, 10, 100, "a"));
        books.books(message("1", 1, 20, 200, "b"));
        books.lost("0");
        books.lost("unheard of");
        assertEquals(20, books.sum("liveBytes"));
        assertEquals(300, books.sum("reclaimedBytes"));
        assertEquals("b", books.sites().get(0).text);
        assertEquals(2, books.executors().size());
    }

    @Test
    void aReportOfAnotherFormStillCounts() {
        Map<String, Object> odd = message("0", 1, 10, 100, "a");
        odd.put("report", "not JSON");
        books.books(odd);
        assertEquals(10, books.sum("liveBytes"));
    }

    @Test
    void thePageIsWellFormedWhateverTheLinesSay() {
        books.books(message("<0>", 1, 10, 100, "Job.call (<script>&)"));
        books.without(Map.of("executor", "1", "why", "no <agent>"));
        for (int i = 0; i < 300; i++) {
            books.kept(Map.of("executor", "0", "name", "task " + i, "lines", Map.of("", new long[] {1, 2})));
        }
        String page = Page.render(books, Map.of(3, new long[] {1, 2, 3, 4}), 5);
        assertFalse(page.contains("<script>"), page);
        assertTrue(page.contains("no &lt;agent&gt;"), page);
        assertTrue(page.contains("left reachable arrays: 300"), page);
        assertTrue(page.contains("(not traced)"), page);
        assertEquals(4, page.split("<table").length - 1);
        assertEquals(5, page.split("<td>task ").length - 1, "no more than the top");
    }

    @Test
    void aPartitionCountsOnce() {
        StageSum sum = new StageSum();
        assertTrue(sum.isZero());
        for (int[] each : new int[][] {{0, 10}, {7, 20}, {0, 10}, {7, 5}}) {
            StageSum task = new StageSum();
            task.set(each[0], each[1]);
            assertFalse(task.isZero());
            sum.merge(task);
        }
        assertEquals(30L, sum.value());
        assertEquals(30L, sum.copy().value());
        sum.merge(sum.copy());
        assertEquals(30L, sum.value());
        assertTrue(sum.copyAndReset().isZero());
    }

    @Test
    void waitingForTheLastWordEnds() {
        books.books(message("0", 1, 10, 100, "a"));
        long start = System.nanoTime();
        books.awaitDone(50);
        assertTrue(System.nanoTime() - start >= 45_000_000);
        books.done("0");
        books.awaitDone(60_000);
        books.lost("0"); // after its last word: it is not lost
        assertFalse(books.executors().get(0).lost);
    }
}
