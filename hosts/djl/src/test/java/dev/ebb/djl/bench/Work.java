package dev.ebb.djl.bench;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Recording;
import dev.ebb.djl.mnist.Mnist;
import dev.ebb.djl.mnist.MnistTraining;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * One piece of work, measured in a JVM of its own: prints lines {@code name=value}. Pairs take turns within it, so
 * that a noisy machine troubles both alike.
 */
public final class Work {
    private static final int HELD = 100_000;
    private static final int PER_BLOCK = 20_000;
    private static final int WARM_UP = 50;
    private static final int BLOCKS = 150;
    private static final long TOTAL = (long) PER_BLOCK * (WARM_UP + BLOCKS);
    private static final Shape ONE_ELEMENT = new Shape(1);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private Work() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "step" -> steps(Integer.parseInt(arguments[1]), 20, Ebb::reclaim);
            case "add" -> adds(Integer.parseInt(arguments[1]), 2_000, Ebb::reclaim);
            // Longer blocks: each begins a recording, and that is not what is asked.
            case "recorded-step" -> steps(Integer.parseInt(arguments[2]), 60, recording(arguments[1]));
            case "recorded-add" -> adds(Integer.parseInt(arguments[2]), 50_000, recording(arguments[1]));
            case "why" -> Heaps.why(Integer.parseInt(arguments[1]), arguments[2]);
            case "drop" -> dropping();
            case "close" -> closing();
            case "scope" -> scopes();
            case "late" -> closingLate(Integer.parseInt(arguments[1]));
            case "heap" -> heapOfOne();
            case "gradients" -> gradientSteps(Integer.parseInt(arguments[1]), Work::addAndDrop);
            case "gradients-closed" -> gradientSteps(Integer.parseInt(arguments[1]), Work::addAndCloseAll);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    // ---- pairs ---------------------------------------------------------------------------------

    private interface Block {
        void run() throws Exception;
    }

    /** What is on or off while a block runs. */
    private interface Switch {
        void set(boolean on) throws Exception;
    }

    /** A recording in this mode, or none. Reclaim is on. */
    private static Switch recording(String mode) throws Exception {
        Path file = Files.createTempFile("ebb-bench", ".ebbrec");
        file.toFile().deleteOnExit();
        Recording[] open = {null};
        return on -> {
            Ebb.reclaim(true);
            if (open[0] != null) {
                open[0].close();
            }
            open[0] = on ? Ebb.record(file.toString(), mode, null) : null;
        };
    }

    /** Runs a block with the switch on and off in turn; prints the medians and the median of the ratios. */
    private static void pairs(int count, int perBlock, Switch switched, Block block) throws Exception {
        Samples on = new Samples();
        Samples off = new Samples();
        Samples ratios = new Samples();
        int warmUps = Math.max(4, count / 10) & ~1;
        double before = 0;
        for (int i = 0; i < warmUps + 2 * count; i++) {
            boolean now = i % 4 == 0 || i % 4 == 3; // on, off; off, on
            double taken = timed(now, switched, block) / perBlock; // here alone: a program's loop is in one place
            if (i >= warmUps) {
                (now ? on : off).add(taken);
            }
            if (i >= warmUps && i % 2 == 1) {
                ratios.add(now ? taken / before : before / taken);
            }
            before = taken;
        }
        System.out.println("on=" + on.median() / 1e3);
        System.out.println("off=" + off.median() / 1e3);
        System.out.println("ratio=" + ratios.median());
        System.out.println("least=" + on.least() / off.least());
    }

    /** Processor time of this thread, which also frees what comes back: others' work on the machine does not count. */
    private static double timed(boolean on, Switch switched, Block block) throws Exception {
        switched.set(on);
        long start = THREADS.getCurrentThreadCpuTime();
        block.run();
        return THREADS.getCurrentThreadCpuTime() - start;
    }

    // ---- training ------------------------------------------------------------------------------

    private static void steps(int count, int perBlock, Switch switched) throws Exception {
        Mnist mnist = Mnist.read("train", 20_000);
        try (Model model = Model.newInstance("mlp")) {
            model.setBlock(MnistTraining.network());
            try (Trainer trainer = model.newTrainer(MnistTraining.config())) {
                trainer.initialize(new Shape(32, Mnist.PIXELS));
                NDManager manager = trainer.getManager();
                ArrayDataset dataset =
                        new ArrayDataset.Builder()
                                .setData(manager.create(mnist.images, new Shape(mnist.count, Mnist.PIXELS)))
                                .optLabels(manager.create(mnist.labels))
                                .setSampling(32, false)
                                .build();
                Stepper stepper = new Stepper(trainer, dataset);
                pairs(count, perBlock, switched, () -> stepper.run(perBlock));
            }
        }
    }

    private static final class Stepper {
        private final Trainer trainer;
        private final ArrayDataset dataset;
        private Iterator<Batch> batches;

        Stepper(Trainer trainer, ArrayDataset dataset) {
            this.trainer = trainer;
            this.dataset = dataset;
        }

        void run(int count) throws Exception {
            for (int i = 0; i < count; i++) {
                if (batches == null || !batches.hasNext()) {
                    batches = trainer.iterateDataset(dataset).iterator();
                }
                try (Batch batch = batches.next()) {
                    EasyTrain.trainBatch(trainer, batch);
                    trainer.step();
                }
            }
        }
    }

    // ---- small operations ----------------------------------------------------------------------

    private static void adds(int count, int perBlock, Switch switched) throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray a = manager.ones(new Shape(1));
            NDArray b = manager.ones(new Shape(1));
            pairs(count, perBlock, switched, () -> addAndClose(a, b, perBlock));
        }
    }

    private static void addAndClose(NDArray a, NDArray b, int count) {
        for (int i = 0; i < count; i++) {
            a.add(b).close();
        }
    }

    private static void addAndDrop(NDArray a, NDArray b, int count) {
        for (int i = 0; i < count; i++) {
            a.add(b);
        }
    }

    /**
     * What an array costs its thread that is dropped and comes back by itself: beyond closing it in stock DJL that is
     * birth, notice, free and books, which all happen there. The collector's own threads are not in it. The mean, not the
     * median: most of it comes in bursts.
     */
    private static void dropping() {
        long before = collections();
        each((a, b) -> addAndDrop(a, b, PER_BLOCK));
        System.out.println("between=" + TOTAL / (collections() - before));
    }

    private static void closing() {
        each((a, b) -> addAndClose(a, b, PER_BLOCK));
    }

    /** A sub-manager that is closed with the three arrays in it. */
    private static void scopes() {
        each((a, b) -> openAndClose(a.getManager(), PER_BLOCK / 4));
    }

    private static void openAndClose(NDManager manager, int count) {
        for (int i = 0; i < count; i++) {
            try (NDManager scope = manager.newSubManager()) {
                scope.create(ONE_ELEMENT);
                scope.create(ONE_ELEMENT);
                scope.create(ONE_ELEMENT);
            }
        }
    }

    /**
     * Closed by hand, but so many births later. With as many as there are between two collections, the engine and the
     * caches have the same work as with arrays that the collector finds: born in mid-cycle, given back in the next.
     */
    private static void closingLate(int births) {
        NDArray[] held = new NDArray[births];
        int[] next = {0};
        each((a, b) -> addAndCloseLate(a, b, held, next));
    }

    private static void addAndCloseLate(NDArray a, NDArray b, NDArray[] held, int[] next) {
        int place = next[0];
        for (int i = 0; i < PER_BLOCK; i++) {
            if (held[place] != null) {
                held[place].close();
            }
            held[place] = a.add(b);
            place = place + 1 == held.length ? 0 : place + 1;
        }
        next[0] = place;
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(java.lang.management.GarbageCollectorMXBean::getCollectionCount)
                .sum();
    }

    private interface Adds {
        void run(NDArray a, NDArray b);
    }

    private static void each(Adds adds) {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray a = manager.ones(new Shape(1));
            NDArray b = manager.ones(new Shape(1));
            for (int i = 0; i < WARM_UP; i++) {
                adds.run(a, b);
            }
            long start = THREADS.getCurrentThreadCpuTime();
            for (int i = 0; i < BLOCKS; i++) {
                adds.run(a, b);
            }
            System.out.println("us=" + (THREADS.getCurrentThreadCpuTime() - start) / 1e3 / BLOCKS / PER_BLOCK);
        }
    }

    /** Heap behind one live array; run with and without the agent, the difference is Ebb's. */
    private static void heapOfOne() throws Exception {
        heapOf(1000); // maps, queues and classes are there before it counts
        System.out.println("bytes=" + heapOf(HELD) / HELD);
    }

    private static double heapOf(int count) throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray a = manager.ones(new Shape(1));
            long before = usedHeap();
            List<NDArray> held = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                held.add(a.add(a));
            }
            long after = usedHeap();
            java.lang.ref.Reference.reachabilityFence(held);
            return after - before;
        }
    }

    private static long usedHeap() throws InterruptedException {
        for (int i = 0; i < 4; i++) {
            System.gc();
            Thread.sleep(20);
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    // ---- gradients -----------------------------------------------------------------------------

    private interface Many {
        void run(NDArray a, NDArray b, int count);
    }

    private static void addAndCloseAll(NDArray a, NDArray b, int count) {
        List<NDArray> made = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            made.add(a.add(b));
        }
        made.forEach(NDArray::close);
    }

    /** A step with {@code zeroGradients()}, fresh and after 100,000 arrays have come and gone. */
    private static void gradientSteps(int rounds, Many many) throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            Network network = new Network(manager);
            for (int i = 0; i < 200; i++) {
                network.step();
            }
            Samples fresh = new Samples();
            Samples later = new Samples();
            for (int i = 0; i < rounds; i++) {
                waitUntilQuiet();
                fresh.add(network.medianStep());
                many.run(network.small, network.small, 100_000);
                waitUntilQuiet();
                later.add(network.medianStep());
            }
            System.out.println("fresh=" + fresh.median() / 1e6);
            System.out.println("later=" + later.median() / 1e6);
            System.out.println("ratio=" + Samples.medianRatio(later, fresh));
        }
    }

    private static void waitUntilQuiet() throws InterruptedException {
        System.gc();
        Thread.sleep(50);
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.ones(new Shape(1)).close();
        }
    }

    /** Forward and backward of a small network, by hand. */
    private static final class Network {
        private final NDArray[] weights = new NDArray[3];
        private final NDArray input;
        final NDArray small;

        Network(NDManager manager) {
            input = manager.ones(new Shape(32, 64));
            small = manager.ones(new Shape(1));
            for (int i = 0; i < weights.length; i++) {
                weights[i] = manager.randomUniform(-0.1f, 0.1f, new Shape(64, 64));
                weights[i].setRequiresGradient(true);
            }
        }

        void step() {
            try (GradientCollector collector = Engine.getInstance().newGradientCollector()) {
                collector.zeroGradients();
                NDArray y = input;
                List<NDArray> made = new ArrayList<>();
                for (NDArray weight : weights) {
                    NDArray product = y.matMul(weight);
                    y = ai.djl.nn.Activation.relu(product);
                    made.add(product);
                    made.add(y);
                }
                NDArray loss = y.sum();
                collector.backward(loss);
                loss.close();
                made.forEach(NDArray::close);
            }
        }

        double medianStep() {
            Samples samples = new Samples();
            for (int i = 0; i < 60; i++) {
                long start = THREADS.getCurrentThreadCpuTime();
                step();
                samples.add(THREADS.getCurrentThreadCpuTime() - start);
            }
            return samples.median();
        }
    }
}
