package dev.ebb.djl.hazards;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.support.Fork;
import java.util.concurrent.CountDownLatch;
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

    @Test
    void neitherDeadlockNorRecursiveUpdate() throws Exception {
        Fork.Result result = Fork.reclaiming().seconds(90).run(Crossing.class);
        assertEquals(0, result.status(), result.text());
        assertEquals(1, result.number("done"), result.text());
        assertEquals(-1, result.text().indexOf("Exception"), result.text());
    }
}
