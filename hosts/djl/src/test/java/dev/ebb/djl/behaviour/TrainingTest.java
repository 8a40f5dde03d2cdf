package dev.ebb.djl.behaviour;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.norm.Dropout;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.initializer.XavierInitializer;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.nn.Parameter;
import ai.djl.translate.NoopTranslator;
import dev.ebb.djl.support.ForcedCollections;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Training as DJL's documentation writes it: what is learned must not depend on when memory comes back. */
@ExtendWith(ForcedCollections.class)
class TrainingTest {
    private static final int ROWS = 256;
    private static final int WIDTH = 8;

    private static SequentialBlock network() {
        return new SequentialBlock()
                .add(Linear.builder().setUnits(16).build())
                .add(Activation::relu)
                .add(Linear.builder().setUnits(2).build());
    }

    private static DefaultTrainingConfig config(Optimizer optimizer) {
        return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss())
                .addEvaluator(new Accuracy())
                .optOptimizer(optimizer)
                .optInitializer(new XavierInitializer(), Parameter.Type.WEIGHT);
    }

    private static Optimizer adam() {
        return Optimizer.adam().optLearningRateTracker(Tracker.fixed(0.01f)).build();
    }

    /** Whether the sum of a row is positive. */
    private static ArrayDataset rowsBySign(NDManager manager) {
        Random random = new Random(7);
        float[] data = new float[ROWS * WIDTH];
        float[] labels = new float[ROWS];
        for (int i = 0; i < ROWS; i++) {
            float sum = 0;
            for (int j = 0; j < WIDTH; j++) {
                data[i * WIDTH + j] = (float) random.nextGaussian();
                sum += data[i * WIDTH + j];
            }
            labels[i] = sum > 0 ? 1 : 0;
        }
        return new ArrayDataset.Builder()
                .setData(manager.create(data, new Shape(ROWS, WIDTH)))
                .optLabels(manager.create(labels))
                .setSampling(32, false)
                .build();
    }

    private static float[] trainedWeights(Optimizer optimizer, int epochs) throws Exception {
        Engine.getInstance().setRandomSeed(11);
        try (Model model = Model.newInstance("signs")) {
            model.setBlock(network());
            try (Trainer trainer = model.newTrainer(config(optimizer))) {
                trainer.initialize(new Shape(32, WIDTH));
                EasyTrain.fit(trainer, epochs, rowsBySign(trainer.getManager()), null);
            }
            return model.getBlock().getParameters().get(0).getValue().getArray().toFloatArray();
        }
    }

    @Test
    void itLearns() throws Exception {
        try (Model model = Model.newInstance("signs")) {
            model.setBlock(network());
            try (Trainer trainer = model.newTrainer(config(adam()))) {
                trainer.initialize(new Shape(32, WIDTH));
                EasyTrain.fit(trainer, 10, rowsBySign(trainer.getManager()), null);
                Accuracy accuracy = new Accuracy();
                accuracy.addAccumulator("after");
                for (Batch batch : trainer.iterateDataset(rowsBySign(trainer.getManager()))) {
                    NDList result = trainer.evaluate(batch.getData());
                    accuracy.updateAccumulator("after", batch.getLabels(), result);
                    batch.close();
                }
                assertTrue(accuracy.getAccumulator("after") > 0.9f, () -> "" + accuracy.getAccumulator("after"));
            }
        }
    }

    @Test
    void theSameSeedLearnsTheSame() throws Exception {
        assertArrayEquals(trainedWeights(adam(), 2), trainedWeights(adam(), 2));
    }

    @Test
    void plainDescentWithMomentum() throws Exception {
        Tracker rate = Tracker.fixed(0.01f);
        for (float weight : trainedWeights(Optimizer.sgd().setLearningRateTracker(rate).optMomentum(0.9f).build(), 1)) {
            assertTrue(Float.isFinite(weight) && Math.abs(weight) < 10, () -> "weight " + weight);
        }
    }

    @Test
    void aLoopByHandMatchesEasyTrain() throws Exception {
        Engine.getInstance().setRandomSeed(11);
        float[] byHand;
        try (Model model = Model.newInstance("signs")) {
            model.setBlock(network());
            try (Trainer trainer = model.newTrainer(config(adam()))) {
                trainer.initialize(new Shape(32, WIDTH));
                for (Batch batch : trainer.iterateDataset(rowsBySign(trainer.getManager()))) {
                    EasyTrain.trainBatch(trainer, batch);
                    trainer.step();
                    batch.close();
                }
            }
            byHand = model.getBlock().getParameters().get(0).getValue().getArray().toFloatArray();
        }
        assertArrayEquals(trainedWeights(adam(), 1), byHand);
    }

    @Test
    void convolutionNormalisationDropout() throws Exception {
        Block block =
                new SequentialBlock()
                        .add(Conv2d.builder().setKernelShape(new Shape(3, 3)).setFilters(4).build())
                        .add(BatchNorm.builder().build())
                        .add(Activation::relu)
                        .add(Blocks.batchFlattenBlock())
                        .add(Dropout.builder().optRate(0.3f).build())
                        .add(Linear.builder().setUnits(2).build());
        assertTrue(Float.isFinite(lossAfterSteps(block, new Shape(8, 1, 10, 10), 8)));
    }

    @Test
    void recurrentLayers() throws Exception {
        Block block =
                new SequentialBlock()
                        .add(LSTM.builder().setStateSize(6).setNumLayers(1).optReturnState(false).build())
                        .add(Blocks.batchFlattenBlock())
                        .add(Linear.builder().setUnits(2).build());
        assertTrue(Float.isFinite(lossAfterSteps(block, new Shape(4, 5, 3), 8)));
    }

    private static float lossAfterSteps(Block block, Shape input, int steps) throws Exception {
        try (Model model = Model.newInstance("block")) {
            model.setBlock(block);
            try (Trainer trainer = model.newTrainer(config(adam()))) {
                trainer.initialize(input);
                float last = 0;
                for (int i = 0; i < steps; i++) {
                    NDManager manager = trainer.getManager();
                    NDArray data = manager.randomUniform(-1, 1, input);
                    NDArray labels = manager.zeros(new Shape(input.get(0)));
                    try (var collector = trainer.newGradientCollector()) {
                        NDArray result = trainer.forward(new NDList(data)).singletonOrThrow();
                        NDArray loss = trainer.getLoss().evaluate(new NDList(labels), new NDList(result));
                        collector.backward(loss);
                        last = loss.getFloat();
                    }
                    trainer.step();
                }
                return last;
            }
        }
    }

    @Test
    void aSavedModelPredictsTheSame(@TempDir Path folder) throws Exception {
        float[] before;
        float[] input = {1, 2, 3, 4, 5, 6, 7, 8};
        try (Model model = Model.newInstance("signs")) {
            model.setBlock(network());
            try (Trainer trainer = model.newTrainer(config(adam()))) {
                trainer.initialize(new Shape(1, WIDTH));
            }
            before = predict(model, input);
            model.save(folder, "signs");
        }
        try (Model model = Model.newInstance("signs")) {
            model.setBlock(network());
            model.load(folder, "signs");
            assertArrayEquals(before, predict(model, input));
        }
    }

    private static float[] predict(Model model, float[] input) throws Exception {
        try (Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator());
                NDManager manager = NDManager.newBaseManager()) {
            NDArray row = manager.create(input, new Shape(1, WIDTH));
            try (NDList result = predictor.predict(new NDList(row))) {
                return result.singletonOrThrow().toFloatArray();
            }
        }
    }

    @Test
    void aDatasetGivesEveryRowOnce() throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray data = manager.arange(0, 100, 1, DataType.FLOAT32).reshape(100, 1);
            ArrayDataset dataset = new ArrayDataset.Builder().setData(data).setSampling(7, true).build();
            double sum = 0;
            int rows = 0;
            for (Batch batch : dataset.getData(manager)) {
                NDArray part = batch.getData().singletonOrThrow();
                rows += (int) part.size();
                sum += part.sum().getFloat();
                batch.close();
            }
            assertEquals(100, rows);
            assertEquals(4950, sum);
        }
    }

    @Test
    void anNDListSurvivesEncodingAndDecoding() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDList list = new NDList(manager.create(new float[] {1, 2}), manager.create(new int[] {3}));
            NDList copy = NDList.decode(manager, list.encode());
            assertArrayEquals(new float[] {1, 2}, copy.get(0).toFloatArray());
            assertArrayEquals(new int[] {3}, copy.get(1).toIntArray());
        }
    }
}
