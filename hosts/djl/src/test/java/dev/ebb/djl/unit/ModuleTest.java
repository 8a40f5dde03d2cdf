package dev.ebb.djl.unit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtSymbolBlock;
import ai.djl.pytorch.jni.IValue;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.support.TorchModule;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What must not run twice, a module's forward pass first of all, when the engine has no memory for it. */
class ModuleTest {

    private static final int DROPPED = 100;
    private static final int TOO_LONG = 1 << 22;

    @TempDir Path folder;

    @BeforeEach
    void trace() {
        Ebb.trace(true);
    }

    @AfterEach
    void traceNoMore() {
        Ebb.trace(false);
    }

    /** Changes its operand, then makes a matrix of its length squared. */
    private Model square() throws IOException {
        return TorchModule.load(folder, "_0 = torch.add_(x, 1)", "return torch.mm(_0, torch.t(_0))");
    }

    private static NDArray column(NDManager manager, long length) {
        return manager.ones(new Shape(length, 1));
    }

    /** The ladder ran, the operation once only, and the error names this file. */
    private static void isExplained(Throwable error, NDArray operand, long reclaimedBefore) {
        assertTrue(error.getMessage().contains("[ebb] it is not tried twice"), error.getMessage());
        assertTrue(error.getMessage().contains("ModuleTest.java:"), error.getMessage());
        assertTrue(Ebb.memory().reclaimed() - reclaimedBefore >= DROPPED, () -> Ebb.memory().toString());
        assertEquals(2f, operand.getFloat(0, 0));
        Ebb.audit();
    }

    /** Drops some, which the ladder has to give back. */
    private static long dropSome(NDManager manager) {
        Ebb.collect();
        Arrays.drop(manager, DROPPED);
        return Ebb.memory().reclaimed();
    }

    @Test
    void itRunsAsEver() throws Exception {
        try (Model model = square();
                Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator());
                NDManager manager = NDManager.newBaseManager()) {
            for (int i = 0; i < 20; i++) {
                NDList result = predictor.predict(new NDList(column(manager, 2)));
                Ebb.collect();
                assertArrayEquals(new float[] {4, 4, 4, 4}, result.singletonOrThrow().toFloatArray());
            }
        }
    }

    @Test
    void aDroppedModuleComesBack() throws Exception {
        Ebb.collect();
        long before = Ebb.memory().live();
        loadAndDrop();
        Ebb.collect();
        assertTrue(Ebb.memory().live() <= before, () -> Ebb.report(10));
    }

    private void loadAndDrop() throws IOException {
        for (int i = 0; i < 10; i++) {
            square();
        }
    }

    @Test
    void itsForwardPassThroughAPredictor() throws Exception {
        try (Model model = square();
                Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator());
                NDManager manager = NDManager.newBaseManager()) {
            NDArray operand = column(manager, TOO_LONG);
            long before = dropSome(manager);
            TranslateException e =
                    assertThrows(TranslateException.class, () -> predictor.predict(new NDList(operand)));
            isExplained(e.getCause(), operand, before);
        }
    }

    @Test
    void itsForwardPassThroughATrainer() throws Exception {
        try (Model model = square();
                Trainer trainer = model.newTrainer(new DefaultTrainingConfig(Loss.l2Loss()))) {
            NDArray operand = column(trainer.getManager(), TOO_LONG);
            long before = dropSome(trainer.getManager());
            EngineException e =
                    assertThrows(EngineException.class, () -> trainer.forward(new NDList(operand)));
            isExplained(e, operand, before);
        }
    }

    /** PyTorch's own entry, past DJL's lists. */
    @Test
    void itsForwardPassByHand() throws Exception {
        try (Model model = square();
                NDManager manager = NDManager.newBaseManager()) {
            PtNDArray operand = (PtNDArray) column(manager, TOO_LONG);
            PtSymbolBlock block = (PtSymbolBlock) model.getBlock();
            long before = dropSome(manager);
            try (IValue given = IValue.from(operand)) {
                EngineException e = assertThrows(EngineException.class, () -> block.forward(given));
                isExplained(e, operand, before);
            }
        }
    }

    /** The gradient of one element of a broadcast array is as large as that array. */
    @Test
    void backward() {
        try (NDManager manager = NDManager.newBaseManager();
                GradientCollector collector = Engine.getInstance().newGradientCollector()) {
            NDArray operand = manager.full(new Shape(1, 1), 2f);
            operand.setRequiresGradient(true);
            NDArray one = operand.broadcast(new Shape(TOO_LONG, TOO_LONG)).get(0).get(0);
            long before = dropSome(manager);
            EngineException e = assertThrows(EngineException.class, () -> collector.backward(one));
            isExplained(e, operand, before);
        }
    }
}
