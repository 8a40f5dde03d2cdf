package dev.ebb.djl.reclaim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.LeakCheck;
import dev.ebb.djl.TaskRegion;
import dev.ebb.djl.core.EbbRuntime;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TaskRegionTest {

    private static final Shape SHAPE = new Shape(256);
    private static final long BYTES = 1024;

    private final NDManager manager = NDManager.newBaseManager();

    @BeforeEach
    void reviewOthers() {
        TaskRegion.stillHeld();
        Ebb.trace(true);
    }

    @AfterEach
    void close() {
        Ebb.trace(false);
        manager.close();
    }

    private void drop(int arrays) {
        for (int i = 0; i < arrays; i++) {
            manager.zeros(SHAPE);
        }
    }

    @Test
    void whatItMadeClosedAndDroppedIsCounted() {
        NDArray before = manager.zeros(SHAPE);
        TaskRegion region = TaskRegion.begin("a task");
        manager.zeros(SHAPE).close();
        try (NDManager sub = manager.newSubManager()) {
            sub.zeros(SHAPE);
        }
        drop(3);
        before.close();
        TaskRegion.Counts counts = region.counts();
        region.close();
        manager.zeros(SHAPE); // after the end: not its own
        assertEquals(5, counts.made());
        assertEquals(5 * BYTES, counts.madeBytes());
        assertEquals(2, counts.closed());
        assertEquals(3, counts.open() + counts.reclaimed());
        assertEquals(List.of(), TaskRegion.stillHeld());
        assertEquals(5, region.counts().made());
        assertEquals(3, region.counts().reclaimed());
        assertEquals(0, region.counts().openBytes());
    }

    @Test
    void whatSomethingStillReachesIsNamedOnce() {
        TaskRegion region = TaskRegion.begin("keeps");
        NDArray kept = manager.zeros(SHAPE);
        drop(2);
        region.close();
        region.close();
        List<TaskRegion.Kept> left = TaskRegion.stillHeld();
        assertEquals(1, left.size());
        assertEquals("keeps", left.get(0).name());
        assertEquals(1, left.get(0).arrays());
        assertEquals(BYTES, left.get(0).bytes());
        assertTrue(left.get(0).lines().keySet().iterator().next().contains("TaskRegionTest.java"));
        assertEquals(List.of(), TaskRegion.stillHeld());
        kept.close();
        assertEquals(0, region.counts().open());
    }

    @Test
    void anInnerRegionHasItsOwn() {
        try (TaskRegion outer = TaskRegion.begin("outer")) {
            drop(1);
            try (TaskRegion inner = TaskRegion.begin("inner")) {
                drop(2);
                assertEquals(2, inner.counts().made());
            }
            drop(4);
            assertEquals(5, outer.counts().made());
        }
    }

    @Test
    void aThreadThatItStartsBelongsToItUntilItsEnd() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        CountDownLatch made = new CountDownLatch(1);
        TaskRegion region = TaskRegion.begin("with a thread");
        Thread thread =
                new Thread(
                        () -> {
                            drop(2);
                            made.countDown();
                            await(ended);
                            drop(1);
                        });
        thread.start();
        made.await();
        region.close();
        ended.countDown();
        thread.join();
        assertEquals(2, region.counts().made());
    }

    @Test
    void tasksBesideEachOtherAreApart() throws InterruptedException {
        long[] made = new long[4];
        Thread[] threads = new Thread[made.length];
        for (int i = 0; i < threads.length; i++) {
            int own = i;
            threads[i] =
                    new Thread(
                            () -> {
                                try (TaskRegion region = TaskRegion.begin("task " + own)) {
                                    drop(100 * (own + 1));
                                    made[own] = region.counts().made();
                                }
                            });
            threads[i].start();
        }
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            assertEquals(100 * (i + 1), made[i]);
        }
        assertEquals(List.of(), TaskRegion.stillHeld());
    }

    @Test
    void regionsThatNobodyAsksAboutDoNotPileUp() {
        for (int i = 0; i < 20_000; i++) {
            try (TaskRegion region = TaskRegion.begin("task")) {
                drop(1);
            }
            if (i % 1000 == 999) {
                Ebb.collect();
            }
        }
        assertTrue(EbbRuntime.tables().get("tasks") < 4096, EbbRuntime.tables().toString());
    }

    @Test
    void aLeakCheckOfThisThreadDoesNotSeeAnothers() throws InterruptedException {
        LeakCheck here = Ebb.expectNoLeaksHere();
        LeakCheck everywhere = Ebb.expectNoLeaks();
        Thread other = new Thread(() -> drop(3));
        other.start();
        other.join();
        drop(2);
        assertEquals(2, here.leaks().size());
        assertEquals(5, everywhere.leaks().size());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
