package dev.ebb.djl.hazards;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.support.Fork;
import dev.ebb.djl.support.Resident;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What stands between Java's memory and the engine's: nothing of it may pile up. */
@Tag("once")
class BuffersTest {
    /** Reads one array again and again; nothing is born, closed or asked meanwhile. */
    public static final class Reads {
        private static final int COUNT = 1_500_000;

        private Reads() {}

        public static void main(String[] arguments) {
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray array = manager.ones(new Shape(2));
                float sum = 0;
                for (int i = 0; i < COUNT; i++) {
                    sum += array.toFloatArray()[1];
                }
                System.out.println("sum=" + sum);
            }
        }
    }

    /** On stock DJL this runs in 64 MB of heap. */
    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void aReadLeavesNothing(String reclaim) throws Exception {
        Fork.Result result =
                Fork.withAgent().flag("-Debb.reclaim=" + reclaim, "-Xmx24m", "-XX:+UseSerialGC").run(Reads.class);
        assertEquals(0, result.status(), result.text());
        assertEquals(Reads.COUNT, result.number("sum"), result.text());
    }

    /** Threads that each make an array from Java data, and one in a manager that they close, and stay. */
    public static final class Threads {
        private Threads() {}

        public static void main(String[] arguments) throws Exception {
            int count = Integer.parseInt(arguments[0]);
            CountDownLatch made = new CountDownLatch(count);
            try (NDManager manager = NDManager.newBaseManager()) {
                manager.create(new float[] {1}).close();
                long before = Resident.now();
                long heap = heap();
                for (int i = 0; i < count; i++) {
                    Thread thread = new Thread(null, () -> stay(manager, made), "stays", 1 << 17);
                    thread.setDaemon(true);
                    thread.start();
                }
                made.await();
                System.out.println("direct=" + direct() / (1 << 20));
                System.out.println("growth=" + (Resident.now() - before) / (1 << 20));
                System.out.println("heap=" + (heap() - heap) / count);
            }
        }

        private static void stay(NDManager manager, CountDownLatch made) {
            manager.create(new float[] {1, 2, 3}).close();
            try (NDManager inner = manager.newSubManager()) {
                inner.create(new float[] {1, 2, 3});
            }
            made.countDown();
            try {
                Thread.sleep(600_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private static long heap() {
            System.gc();
            return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        }

        private static long direct() {
            return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                    .filter(pool -> pool.getName().equals("direct"))
                    .mapToLong(BufferPoolMXBean::getMemoryUsed)
                    .sum();
        }
    }

    @Test
    void threadsThatMadeAnArrayKeepNoMemoryForIt() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-Xmx64m").run(Threads.class, 1500);
        assertEquals(0, result.status(), result.text());
        assertEquals(0, result.number("direct"), result.text());
        assertTrue(!result.text().contains("Cannot reserve"), result.text());
        assertTrue(result.number("heap") < 4096, result.text());
    }

    /** Makes an array from a direct buffer, then writes to the buffer. */
    public static final class Alias {
        private Alias() {}

        public static void main(String[] arguments) {
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray view = viewOfBuffer(manager);
                for (int i = 0; i < 3; i++) {
                    System.gc();
                    manager.create(new float[10_000]);
                    ByteBuffer.allocateDirect(40_000).order(ByteOrder.nativeOrder()).asFloatBuffer().put(0, -7f);
                }
                System.out.println("view=" + view.sum().getFloat());
                System.out.println("copied=" + manager.create(new float[] {1, 2}).sum().getFloat());
            }
        }

        private static NDArray viewOfBuffer(NDManager manager) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(40_000).order(ByteOrder.nativeOrder());
            NDArray array = manager.create(buffer, new Shape(100, 100), DataType.FLOAT32);
            buffer.asFloatBuffer().put(0, 5f);
            System.out.println("seen=" + array.getFloat(0, 0));
            return array.reshape(10_000);
        }
    }

    @Test
    void anArrayHasMemoryOfItsOwn() throws Exception {
        assertEquals(0, Fork.reclaiming().run(Alias.class).number("seen"));
    }

    /** As in stock DJL, and with the buffer kept for as long as there: the dropped array's view still reads it. */
    @Test
    void orSharesTheProgramsBufferWhereAsked() throws Exception {
        assertEquals(5, Fork.stock().run(Alias.class).number("seen"));
        Fork.Result result = Fork.reclaiming().flag("-Debb.own=false").run(Alias.class);
        assertEquals(5, result.number("seen"), result.text());
        assertEquals(5, result.number("view"), result.text());
        assertEquals(3, result.number("copied"), result.text());
    }
}
