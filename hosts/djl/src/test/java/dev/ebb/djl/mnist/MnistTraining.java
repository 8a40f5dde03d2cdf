package dev.ebb.djl.mnist;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.initializer.XavierInitializer;
import ai.djl.training.listener.EvaluatorTrainingListener;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.util.Pair;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * The multilayer perceptron of DJL's documentation: 784-128-64-10, Adam, batches of 32. A program of DJL's alone:
 * it knows nothing of Ebb, and is run with and without its agent. One line a epoch, as JSON.
 *
 * <pre>MnistTraining wellwritten|careless EPOCHS IMAGES</pre>
 *
 * <p>{@code wellwritten} is {@code EasyTrain}'s loop, every batch closed. {@code careless} closes nothing: it
 * makes and normalises its batches as it goes, and looks at the norm of each parameter.
 */
public final class MnistTraining {
    private static final int BATCH = 32;
    private static final int TEST_IMAGES = 2_000;
    private static final float MEAN = 0.1307f;
    private static final float DEVIATION = 0.3081f;

    private final Mnist train;
    private final Mnist test;
    private final boolean careless;

    private MnistTraining(boolean careless, int images) throws IOException {
        this.careless = careless;
        train = Mnist.read("train", images);
        test = Mnist.read("t10k", TEST_IMAGES);
    }

    public static void main(String[] arguments) throws Exception {
        int epochs = Integer.parseInt(arguments[1]);
        new MnistTraining(arguments[0].equals("careless"), Integer.parseInt(arguments[2])).run(epochs);
    }

    private void run(int epochs) throws Exception {
        Engine.getInstance().setRandomSeed(1);
        try (Model model = Model.newInstance("mlp")) {
            model.setBlock(network());
            try (Trainer trainer = model.newTrainer(config())) {
                trainer.initialize(new Shape(BATCH, Mnist.PIXELS));
                ArrayDataset dataset = careless ? null : dataset(trainer.getManager());
                System.out.println("{\"begin\": true}");
                for (int epoch = 1; epoch <= epochs; epoch++) {
                    double start = seconds();
                    double processor = processorSeconds();
                    double loss = careless ? carelessEpoch(trainer) : wellWrittenEpoch(trainer, dataset);
                    double took = seconds() - start;
                    double spent = processorSeconds() - processor;
                    report(epoch, took, spent, loss, accuracy(trainer), arrays(trainer));
                }
            }
        }
    }

    public static SequentialBlock network() {
        return new SequentialBlock()
                .add(Linear.builder().setUnits(128).build())
                .add(Activation::relu)
                .add(Linear.builder().setUnits(64).build())
                .add(Activation::relu)
                .add(Linear.builder().setUnits(10).build());
    }

    public static DefaultTrainingConfig config() {
        return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                .addEvaluator(new Accuracy())
                .addTrainingListeners(new EvaluatorTrainingListener())
                .optOptimizer(Optimizer.adam().build())
                .optInitializer(new XavierInitializer(), Parameter.Type.WEIGHT);
    }

    private ArrayDataset dataset(NDManager manager) {
        return new ArrayDataset.Builder()
                .setData(manager.create(train.images, new Shape(train.count, Mnist.PIXELS)))
                .optLabels(manager.create(train.labels))
                .setSampling(BATCH, false)
                .build();
    }

    private static double wellWrittenEpoch(Trainer trainer, ArrayDataset dataset) throws Exception {
        for (Batch batch : trainer.iterateDataset(dataset)) {
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
            batch.close();
        }
        double loss = trainer.getLoss().getAccumulator(EvaluatorTrainingListener.TRAIN_EPOCH);
        trainer.notifyListeners(listener -> listener.onEpoch(trainer));
        return loss;
    }

    private double carelessEpoch(Trainer trainer) {
        NDManager manager = trainer.getManager();
        double sum = 0;
        for (int from = 0; from + BATCH <= train.count; from += BATCH) {
            NDArray images = rows(manager, train, from, BATCH).sub(MEAN).div(DEVIATION);
            NDArray labels = labels(manager, train, from, BATCH);
            try (GradientCollector collector = trainer.newGradientCollector()) {
                NDList result = trainer.forward(new NDList(images));
                NDArray loss = trainer.getLoss().evaluate(new NDList(labels), result);
                collector.backward(loss);
                sum += loss.getFloat();
            }
            trainer.step();
            for (Pair<String, Parameter> parameter : trainer.getModel().getBlock().getParameters()) {
                sum += 0 * parameter.getValue().getArray().norm().getFloat();
            }
        }
        return sum;
    }

    private static NDArray rows(NDManager manager, Mnist set, int from, int count) {
        float[] data = Arrays.copyOfRange(set.images, from * Mnist.PIXELS, (from + count) * Mnist.PIXELS);
        return manager.create(data, new Shape(count, Mnist.PIXELS));
    }

    private static NDArray labels(NDManager manager, Mnist set, int from, int count) {
        return manager.create(Arrays.copyOfRange(set.labels, from, from + count));
    }

    private double accuracy(Trainer trainer) {
        try (NDManager manager = trainer.getManager().newSubManager()) {
            NDArray images = rows(manager, test, 0, test.count);
            NDList result = trainer.evaluate(new NDList(careless ? images.sub(MEAN).div(DEVIATION) : images));
            result.attach(manager);
            float[] scores = result.singletonOrThrow().toFloatArray();
            int right = 0;
            for (int i = 0; i < test.count; i++) {
                right += largest(scores, 10 * i) == (int) test.labels[i] ? 1 : 0;
            }
            return (double) right / test.count;
        }
    }

    private static int largest(float[] scores, int from) {
        int best = 0;
        for (int i = 1; i < 10; i++) {
            best = scores[from + i] > scores[from + best] ? i : best;
        }
        return best;
    }

    /** Everything under the system manager: what grows by the epoch in the seed's example. */
    private static int arrays(Trainer trainer) {
        NDManager manager = trainer.getManager();
        while (manager.getParentManager() != null) {
            manager = manager.getParentManager();
        }
        return manager.getManagedArrays().size();
    }

    private static void report(int epoch, double took, double spent, double loss, double accuracy, int arrays)
            throws IOException {
        System.out.printf(
                Locale.ROOT,
                "{\"epoch\": %d, \"seconds\": %.3f, \"processor\": %.3f, \"loss\": %.6f, \"accuracy\": %.4f,"
                        + " \"arrays\": %d, \"resident\": %d}%n",
                epoch, took, spent, loss, accuracy, arrays, resident());
    }

    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return 0;
    }

    private static double seconds() {
        return System.nanoTime() / 1e9;
    }

    private static double processorSeconds() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / 1e9;
    }
}
