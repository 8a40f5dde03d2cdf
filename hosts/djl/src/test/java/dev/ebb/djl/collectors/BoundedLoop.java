package dev.ebb.djl.collectors;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import com.sun.management.OperatingSystemMXBean;
import dev.ebb.djl.support.Resident;
import java.lang.management.ManagementFactory;

/**
 * {@code x.mul(2).add(1)} again and again, nothing closed; prints the processor time it took and by how much
 * resident memory grew, in MB.
 *
 * <pre>BoundedLoop ITERATIONS LENGTH [close]</pre>
 */
public final class BoundedLoop {
    private static final int WARM_UP = 3;

    private BoundedLoop() {}

    public static void main(String[] arguments) {
        int iterations = Integer.parseInt(arguments[0]);
        int length = Integer.parseInt(arguments[1]);
        boolean closing = arguments.length > 2 && arguments[2].equals("close");
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = manager.ones(new Shape(length));
            for (int i = 0; i < WARM_UP; i++) {
                closed(x);
            }
            long before = Resident.now();
            Resident.resetPeak();
            long start = processorNanos();
            for (int i = 0; i < iterations; i++) {
                if (closing) {
                    closed(x);
                } else {
                    dropped(x);
                }
            }
            System.out.println("seconds=" + (processorNanos() - start) / 1e9);
            System.out.println("growth=" + (Resident.peak() - before) / (1 << 20));
            System.out.println("peak=" + Resident.peak() / (1 << 20));
        }
    }

    /** Of the whole process: the collector's threads count. */
    private static long processorNanos() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static void dropped(NDArray x) {
        x.mul(2).add(1);
    }

    private static void closed(NDArray x) {
        try (NDArray product = x.mul(2);
                NDArray sum = product.add(1)) {
            sum.getShape();
        }
    }
}
