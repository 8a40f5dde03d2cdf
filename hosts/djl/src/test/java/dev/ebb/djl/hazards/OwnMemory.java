package dev.ebb.djl.hazards;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.training.GradientCollector;
import dev.ebb.djl.support.Resident;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Programs in which an array made from Java data is read after the collector has looked for its direct buffer. */
public final class OwnMemory {
    private static final int ROUNDS = 20;
    private static final int LENGTH = 4096;

    private OwnMemory() {}

    public static void main(String[] arguments) throws Exception {
        int wrong =
                switch (arguments[0]) {
                    case "view" -> rounds(OwnMemory::viewAfterClose);
                    case "gradient" -> rounds(OwnMemory::gradientAfterCollection);
                    case "create" -> createManyLarge();
                    default -> throw new IllegalArgumentException(arguments[0]);
                };
        System.out.println("wrong=" + wrong);
    }

    private interface Round {
        boolean isWrong(NDManager manager) throws Exception;
    }

    private static int rounds(Round round) throws Exception {
        int wrong = 0;
        for (int i = 0; i < ROUNDS; i++) {
            try (NDManager manager = NDManager.newBaseManager()) {
                wrong += round.isWrong(manager) ? 1 : 0;
            }
        }
        return wrong;
    }

    /** A reshape shares its source's memory, and must keep it when the source is closed. */
    private static boolean viewAfterClose(NDManager manager) throws Exception {
        float[] data = new float[LENGTH];
        Arrays.fill(data, 3f);
        NDArray source = manager.create(data);
        NDArray view = source.reshape(2, LENGTH / 2);
        source.close();
        source = null;
        collectAndOverwrite();
        return !isAll(view.toFloatArray(), 3f);
    }

    /** {@code w.mul(3f)} makes an array of the 3; the graph needs it until backward, nobody else does. */
    private static boolean gradientAfterCollection(NDManager manager) throws Exception {
        NDArray w = manager.ones(new ai.djl.ndarray.types.Shape(LENGTH));
        w.setRequiresGradient(true);
        try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
            NDArray loss = w.mul(3f).sum();
            collectAndOverwrite();
            collector.backward(loss);
        }
        return !isAll(w.getGradient().toFloatArray(), 3f);
    }

    private static boolean isAll(float[] values, float expected) {
        for (float value : values) {
            if (value != expected) {
                return false;
            }
        }
        return true;
    }

    /** Lets the collector free direct buffers, and writes over what the allocator hands out again. */
    private static void collectAndOverwrite() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(5);
        }
        ByteBuffer[] others = new ByteBuffer[256];
        for (int i = 0; i < others.length; i++) {
            others[i] = ByteBuffer.allocateDirect(i % 2 == 0 ? 4 : 4 * LENGTH);
            others[i].put(new byte[others[i].capacity()]);
        }
    }

    /** Every array is closed at once; what stock DJL keeps are the direct buffers behind them. */
    private static int createManyLarge() {
        float[] data = new float[1 << 20];
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.create(data).close();
            long before = Resident.now();
            Resident.resetPeak();
            for (int i = 0; i < 400; i++) {
                manager.create(data).close();
            }
            System.out.println("growth=" + (Resident.peak() - before) / (1 << 20));
        }
        return 0;
    }
}
