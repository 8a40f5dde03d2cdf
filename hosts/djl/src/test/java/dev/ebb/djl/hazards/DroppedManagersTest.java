package dev.ebb.djl.hazards;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.support.Fork;
import dev.ebb.djl.support.Managers;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * DJL attaches under the manager's lock and inside a map's computation. Ending a dropped sub-manager in there would be
 * a recursive update, or, with two threads whose managers hold each other's, a deadlock.
 */
class DroppedManagersTest {
    /** Each thread attaches to its own manager while dropping sub-managers of the other's, with loans. */
    public static final class Crossing {
        private Crossing() {}

        public static void main(String[] arguments) throws Exception {
            try (NDManager a = NDManager.newBaseManager();
                    NDManager b = NDManager.newBaseManager()) {
                CountDownLatch done = new CountDownLatch(2);
                Thread[] threads = {thread(a, b, done), thread(b, a, done)};
                while (done.getCount() > 0) {
                    System.gc();
                    Thread.sleep(1);
                }
                for (Thread thread : threads) {
                    thread.join();
                }
            }
            System.out.println("done=1");
        }

        private static Thread thread(NDManager own, NDManager other, CountDownLatch done) {
            Thread thread =
                    new Thread(
                            () -> {
                                for (int i = 0; i < 1500; i++) {
                                    NDManager dropped = other.newSubManager();
                                    NDArray lent = own.ones(new Shape(4));
                                    lent.tempAttach(dropped);
                                    dropped.ones(new Shape(4));
                                    own.ones(new Shape(4)).add(1).close();
                                }
                                done.countDown();
                            });
            thread.start();
            return thread;
        }
    }

    /** What a dropped manager held, besides arrays: closing it may do anything, also take another manager's lock. */
    private static final class Held implements AutoCloseable {
        private static final AtomicInteger CLOSED = new AtomicInteger();
        private static final AtomicInteger IN_A_WALK = new AtomicInteger();

        @Override
        public void close() {
            CLOSED.incrementAndGet();
            for (StackTraceElement frame : Thread.currentThread().getStackTrace()) {
                if (frame.getMethodName().equals("getManagedArrays")) {
                    IN_A_WALK.incrementAndGet();
                }
            }
        }
    }

    /** DJL walks over a manager's arrays where the collector has found another manager that was dropped. */
    public static final class Walking {
        private Walking() {}

        public static void main(String[] arguments) throws Exception {
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < 20; i++) {
                    drop(manager);
                }
                for (int i = 0; i < 50; i++) {
                    System.gc();
                    Thread.sleep(10);
                    manager.getManagedArrays();
                }
                System.out.println("inAWalk=" + Held.IN_A_WALK.get());
                manager.ones(new Shape(4)).close();
                System.out.println("closed=" + Held.CLOSED.get());
            }
        }

        private static void drop(NDManager manager) {
            Managers.attach(manager.newSubManager(), "held", new Held());
        }
    }

    @Test
    void resourcesAreClosedAfterTheWalkThatFoundThem() throws Exception {
        Fork.Result result = Fork.reclaiming().seconds(90).run(Walking.class);
        assertEquals(0, result.status(), result.text());
        assertEquals(0, result.number("inAWalk"), result.text());
        assertEquals(20, result.number("closed"), result.text());
    }

    @Test
    void neitherDeadlockNorRecursiveUpdate() throws Exception {
        Fork.Result result = Fork.reclaiming().seconds(90).run(Crossing.class);
        assertEquals(0, result.status(), result.text());
        assertEquals(1, result.number("done"), result.text());
        assertEquals(-1, result.text().indexOf("Exception"), result.text());
    }
}
