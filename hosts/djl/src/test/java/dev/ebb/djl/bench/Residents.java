package dev.ebb.djl.bench;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.support.Resident;
import java.util.ArrayList;
import java.util.List;

/** What programs have resident, in MB; each in a JVM of its own: prints lines {@code name=value}. */
public final class Residents {
    private static final int MEGABYTE = 1 << 20;
    private static final int HELD = 100;
    private static final int DROPPED = 2000;
    private static final Shape TWO_MEGABYTES = new Shape(MEGABYTE / 2);
    private static final int KEPT = 300;
    private static final int KEPT_FLOATS = 5000;

    private Residents() {}

    public static void main(String[] arguments) {
        try (NDManager manager = NDManager.newBaseManager()) {
            switch (arguments[0]) {
                case "few" -> few(manager);
                case "held" -> held(manager);
                case "kept" -> kept(manager);
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }
    }

    /** A few arrays, as a program has them that has only begun. */
    private static void few(NDManager manager) {
        NDArray sum = manager.create(new float[] {1, 2, 3}).add(manager.ones(new Shape(3))).sum();
        System.out.println("sum=" + sum.getFloat());
        System.out.println("resident=" + Resident.peak() / MEGABYTE);
    }

    /** 200 MB that are reachable, and 2,000 times 2 MB that are not; and the share of the time that collecting took of these. */
    private static void held(NDManager manager) {
        long before = Resident.now();
        Resident.resetPeak();
        List<NDArray> held = new ArrayList<>();
        for (int i = 0; i < HELD; i++) {
            held.add(manager.ones(TWO_MEGABYTES));
        }
        long collecting = Ebb.memory().collectNanos();
        long start = System.nanoTime();
        for (int i = 0; i < DROPPED; i++) {
            held.get(i % HELD).mul(2);
        }
        double took = System.nanoTime() - start;
        Memory books = Ebb.memory();
        System.out.println("resident=" + (Resident.peak() - before) / MEGABYTE);
        System.out.println("peak=" + books.peakLiveBytes() / MEGABYTE);
        System.out.println("share=" + (books.collectNanos() - collecting) / took);
        System.out.println("held=" + held.size());
    }

    /** Small results that stay, each computed from large arrays that end. */
    private static void kept(NDManager manager) {
        NDArray x = manager.ones(new Shape(MEGABYTE / 4));
        long before = Resident.now();
        List<NDArray> kept = new ArrayList<>();
        for (int i = 0; i < KEPT; i++) {
            try (NDArray product = x.mul(i);
                    NDArray sum = product.add(1);
                    NDArray head = sum.get("0:" + KEPT_FLOATS)) {
                kept.add(head.mul(2));
            }
        }
        System.out.println("growth=" + (Resident.now() - before) / MEGABYTE);
        System.out.println("kept=" + kept.size());
    }
}
