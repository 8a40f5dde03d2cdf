package dev.ebb.djl.reclaim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.support.Fork;
import dev.ebb.djl.support.Managers;
import dev.ebb.djl.support.Resident;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** Nothing that tracks may leak: heap and native memory are the same after a few hundred thousand arrays. */
class TrackingTest {
    /** Every way in which an array or a manager can come and go. */
    public static final class Program {
        private static final int ROUNDS = 50_000;

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray x = manager.ones(new Shape(8));
                rounds(manager, x, ROUNDS); // as long as below: tables keep the size that they once needed
                long heap = heap();
                long resident = Resident.now();
                rounds(manager, x, ROUNDS);
                System.out.println("heap=" + (heap() - heap) / 1024);
                System.out.println("resident=" + (Resident.now() - resident) / (1 << 20));
                System.out.println("left=" + Managers.resources(manager));
                System.out.println("live=" + Ebb.memory().live());
                Ebb.audit();
            }
        }

        private static void rounds(NDManager manager, NDArray x, int count) {
            for (int i = 0; i < count; i++) {
                x.add(x);
                x.add(x).close();
                if (i % 10 == 0) {
                    NDManager dropped = manager.newSubManager();
                    dropped.ones(new Shape(8));
                    NDArray lent = x.add(x);
                    lent.tempAttach(dropped);
                    x.add(x).detach();
                }
                if (i % 10 == 5) {
                    try (NDManager closed = manager.newSubManager()) {
                        NDArray lent = x.add(x);
                        lent.tempAttach(closed);
                        closed.ones(new Shape(8)).attach(manager);
                    }
                }
            }
        }

        private static long heap() throws InterruptedException {
            for (int i = 0; i < 4; i++) {
                Ebb.collect();
                Thread.sleep(20);
            }
            return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        }
    }

    @Test
    void nothingGrows() throws Exception {
        Fork fork = Fork.reclaiming().flag("-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch");
        Fork.Result result = fork.run(Program.class);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("heap") < 1024, result.text());
        assertTrue(result.number("resident") < 64, result.text());
        assertTrue(result.number("left") < 10, result.text());
        assertTrue(result.number("live") < 20, result.text());
    }

    @Test
    void nothingGrowsWithTracing() throws Exception {
        Fork fork = Fork.reclaiming().flag("-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch", "-Debb.trace=true");
        Fork.Result result = fork.run(Program.class);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("heap") < 1024, result.text());
        assertTrue(result.number("left") < 10, result.text());
    }
}
