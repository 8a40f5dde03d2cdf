package dev.ebb.djl.core.managers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
class RecordsTest {
    private static final int MANY = 20_000;

    private static void fill(Records records, String prefix) {
        for (int i = 0; i < MANY; i++) {
            records.put(prefix + i, i);
        }
        for (int i = 0; i < MANY; i++) {
            records.remove(prefix + i, (Object) i);
        }
    }

    @Test
    void walksCostWhatIsThere() {
        Records records = new Records();
        records.put("kept", "kept");
        fill(records, "n");
        records.all(); // moves
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < 1000; i++) {
            assertEquals(List.of("kept"), records.all());
        }
        long perWalk = (threads.getCurrentThreadCpuTime() - before) / 1000;
        assertTrue(perWalk < 20_000, perWalk + " ns a walk; a table of 32,768 takes more than that");
    }

    /** Four threads come and go under names of their own, a fifth walks, which moves the table again and again. */
    @Test
    void nothingIsLostWhileTheTableMoves() throws Exception {
        Records records = new Records();
        records.put("kept", "kept");
        AtomicBoolean ended = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(5);
        List<Future<?>> churns = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            String prefix = t + ":";
            churns.add(threads.submit(() -> churn(records, prefix)));
        }
        Future<?> walks = threads.submit(() -> walk(records, ended));
        for (Future<?> churn : churns) {
            churn.get();
        }
        ended.set(true);
        walks.get();
        threads.shutdown();
        assertEquals(List.of("kept"), records.all());
    }

    private static void churn(Records records, String prefix) {
        for (int round = 0; round < 30; round++) {
            int count = round % 3 == 0 ? 2000 : 50;
            for (int i = 0; i < count; i++) {
                assertNull(records.put(prefix + i, i));
                assertEquals(i, records.get(prefix + i));
            }
            for (int i = 0; i < count; i++) {
                assertEquals(i, records.remove(prefix + i));
                assertNull(records.get(prefix + i));
            }
        }
    }

    private static void walk(Records records, AtomicBoolean ended) {
        while (!ended.get()) {
            assertEquals(1, records.all().stream().filter("kept"::equals).count());
            assertSame("kept", records.get("kept"));
        }
    }
}
