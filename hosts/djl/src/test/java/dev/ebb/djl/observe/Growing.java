package dev.ebb.djl.observe;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import ai.djl.translate.NoopTranslator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A trainer and a pool of predictors, careless both: nothing is closed. With {@code leak} they also keep what they make. A
 * program of DJL's alone.
 *
 * <pre>Growing trainer|pool leak|clean SECONDS</pre>
 */
public final class Growing {
    private static final int BATCH = 32;
    private static final int WIDTH = 784;
    private static final int PAUSE_MS = 15;
    private static final int LEAST_STEPS = 300; // where the machine has other work

    /** What the trainer remembers of its steps. */
    private static final class History {
        final List<NDArray> outputs = new ArrayList<>();
    }

    /** Answers of the pool, by request. */
    private static final Map<String, NDList> ANSWERS = new HashMap<>();

    private final boolean leaks;
    private final double seconds;
    private int steps;
    private long end; // 0: not begun; the engine's start does not count

    private Growing(boolean leaks, double seconds) {
        this.leaks = leaks;
        this.seconds = seconds;
    }

    public static void main(String[] arguments) throws Exception {
        Growing program = new Growing(arguments[1].equals("leak"), Double.parseDouble(arguments[2]));
        if (arguments[0].equals("trainer")) {
            program.train();
        } else {
            program.serve();
        }
        System.out.println("ended well");
    }

    private boolean goesOn() throws InterruptedException {
        Thread.sleep(PAUSE_MS);
        synchronized (this) {
            steps++;
            if (end == 0) {
                end = System.nanoTime() + (long) (seconds * 1e9);
            }
            return System.nanoTime() < end || steps < LEAST_STEPS;
        }
    }

    private void train() throws Exception {
        History history = new History();
        try (Model model = Model.newInstance("growing")) {
            model.setBlock(Linear.builder().setUnits(WIDTH).build());
            try (Trainer trainer = model.newTrainer(new DefaultTrainingConfig(Loss.l2Loss()))) {
                trainer.initialize(new Shape(BATCH, WIDTH));
                while (goesOn()) {
                    step(trainer, history);
                }
            }
        }
    }

    private void step(Trainer trainer, History history) {
        NDArray data = trainer.getManager().randomUniform(0, 1, new Shape(BATCH, WIDTH));
        try (GradientCollector collector = trainer.newGradientCollector()) {
            NDArray output = trainer.forward(new NDList(data)).singletonOrThrow();
            collector.backward(trainer.getLoss().evaluate(new NDList(data), new NDList(output)));
            if (leaks) {
                history.outputs.add(output.mul(2));
            } else {
                output.mul(2);
            }
        }
        trainer.step();
    }

    private void serve() throws Exception {
        try (Model model = Model.newInstance("growing")) {
            model.setBlock(Linear.builder().setUnits(WIDTH).build());
            model.getBlock().initialize(model.getNDManager(), ai.djl.ndarray.types.DataType.FLOAT32, new Shape(BATCH, WIDTH));
            Thread[] pool = new Thread[2];
            for (int i = 0; i < pool.length; i++) {
                int number = i;
                pool[i] = new Thread(() -> answer(model, number));
                pool[i].start();
            }
            for (Thread thread : pool) {
                thread.join();
            }
        }
    }

    private void answer(Model model, int number) {
        try (Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator());
                NDManager requests = NDManager.newBaseManager()) {
            for (int i = 0; goesOn(); i++) {
                NDList answer = predictor.predict(new NDList(requests.ones(new Shape(BATCH, WIDTH))));
                synchronized (ANSWERS) {
                    ANSWERS.put("request " + number + "/" + (leaks ? i : i % 10), answer);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
