package dev.ebb.djl.bench;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How long the question takes who holds an array, in heaps of one kind of object. */
final class Heaps {

    private static final List<Object> HEAP = new ArrayList<>();

    private Heaps() {}

    /** Of records (a map of some objects each), of nodes (24 bytes, linked) or of numbers (16 bytes). */
    static void why(int megabytes, String of) {
        long bytes = (long) megabytes << 20;
        while (used() < bytes) {
            while (used() < bytes) {
                for (int i = 0; i < 1000; i++) {
                    HEAP.add(thing(of, HEAP.size()));
                }
            }
            System.gc();
        }
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.ones(new Shape(1));
            HEAP.add(List.of(array));
            long start = System.nanoTime();
            String path = Ebb.why(array);
            System.out.println("seconds=" + (System.nanoTime() - start) / 1e9);
            System.out.println("path=" + path);
        }
    }

    private record Node(int number, Object next) {}

    private static Object thing(String of, int i) {
        return switch (of) {
            case "records" ->
                    new HashMap<>(Map.of("name", "customer " + i, "number", i * 1000L, "items", new ArrayList<>(List.of(i, i + 1))));
            case "nodes" -> new Node(i, i == 0 ? null : HEAP.get(i - 1));
            default -> Integer.valueOf(i + 1000);
        };
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }
}
