package dev.ebb.djl.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.EbbException;
import dev.ebb.djl.support.Fork;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class WhyTest {

    private static final Map<String, List<NDArray>> CACHE = new HashMap<>();
    private static Object any;

    private static final class Basket {
        NDArray scores;
        final Basket[] others = new Basket[3];
    }

    @Test
    void throughTheJdksCollections() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.ones(new Shape(3));
            CACHE.put("a", new ArrayList<>(List.of(array)));
            assertEquals("WhyTest.CACHE (HashMap) -> [] (PtNDArray)", Ebb.why(array));
        } finally {
            CACHE.clear();
        }
    }

    @Test
    void throughFieldsAndArrays() {
        try (NDManager manager = NDManager.newBaseManager()) {
            Basket basket = new Basket();
            basket.others[1] = new Basket();
            basket.others[1].scores = manager.ones(new Shape(3));
            any = basket;
            assertEquals(
                    "WhyTest.any (WhyTest$Basket) -> .others (WhyTest$Basket[]) -> [] (WhyTest$Basket) -> .scores (PtNDArray)",
                    Ebb.why(basket.others[1].scores));
        } finally {
            any = null;
        }
    }

    /** A weak one does not hold; a soft one does. */
    @Test
    void throughReferences() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.ones(new Shape(3));
            any = new WeakReference<>(array);
            assertTrue(Ebb.why(array).startsWith("a local of WhyTest.throughReferences (WhyTest.java:"), Ebb.why(array));
            any = new SoftReference<>(array);
            assertEquals("WhyTest.any (SoftReference) -> [] (PtNDArray)", Ebb.why(array));
        } finally {
            any = null;
        }
    }

    @Test
    void byAThread() throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.ones(new Shape(3));
            Object[] gate = {array};
            Thread holder = new Thread(() -> hold(gate));
            holder.start();
            while (gate[0] != null) {
                Thread.sleep(5);
            }
            String why = Ebb.why(array);
            synchronized (gate) {
                gate.notifyAll();
            }
            holder.join();
            assertTrue(why.startsWith("a local of WhyTest.hold (WhyTest.java:"), why);
        }
    }

    private static void hold(Object[] gate) {
        synchronized (gate) {
            Object mine = gate[0];
            gate[0] = null;
            try {
                gate.wait(60_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            assertTrue(mine instanceof NDArray);
        }
    }

    @Test
    void ofAPlace() {
        Ebb.trace(true);
        try (NDManager manager = NDManager.newBaseManager()) {
            List<NDArray> kept = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                kept.add(manager.ones(new Shape(3)));
            }
            CACHE.put("kept", kept);
            Map<String, String> holders = Ebb.holders("WhyTest.ofAPlace");
            assertEquals(List.of("WhyTest.CACHE (HashMap) -> [] (PtNDArray)"), List.copyOf(holders.values()));
            assertTrue(holders.keySet().iterator().next().startsWith("WhyTest.ofAPlace (WhyTest.java:"), holders.toString());
            assertEquals(Map.of(), Ebb.holders("NoSuchPlace.java:1"));
        } finally {
            CACHE.clear();
            Ebb.trace(false);
        }
    }

    @Test
    void ofNothing() {
        assertThrows(NullPointerException.class, () -> Ebb.why(null));
        assertThrows(NullPointerException.class, () -> Ebb.holders(null));
    }

    /** More than 1 GB is asked about first. */
    @Test
    @Tag("once")
    void ofALargeHeap() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-Xmx1600m", "-Xms1600m", "-XX:+UseParallelGC").run(LargeHeap.class, 1100);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.value("refused").contains("larger than 1 GB"), result.text());
    }

    /** A heap of so many megabytes, and how long it takes. */
    public static final class LargeHeap {
        private static final List<Object> HEAP = new ArrayList<>();

        private LargeHeap() {}

        public static void main(String[] arguments) {
            for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
                HEAP.add(new byte[1 << 20]);
            }
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray array = manager.ones(new Shape(3));
                System.out.println("refused=" + assertThrows(EbbException.class, () -> Ebb.why(array)).getMessage());
            }
        }
    }
}
