package dev.ebb.djl.reclaim;

import static dev.ebb.djl.support.Managers.holding;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Reports name the user's line, and the manager that results escaped to. */
class ReportTest {
    @BeforeEach
    void on() {
        Ebb.reclaim(true);
        Ebb.trace(true);
    }

    @AfterEach
    void off() {
        Ebb.trace(false);
    }

    private static int line() {
        return StackWalker.getInstance().walk(frames -> frames.skip(1).findFirst().orElseThrow()).getLineNumber();
    }

    @Test
    void byCreationSite() {
        try (NDManager manager = NDManager.newBaseManager()) {
            int line = line() + 1;
            NDArray array = manager.ones(new Shape(1 << 20));
            String report = Ebb.report(10);
            assertTrue(report.contains("ReportTest.java:" + line), report);
            assertTrue(report.contains("4.00 MB"), report);
            holding(array);
        }
    }

    @Test
    void asJson() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray array = manager.ones(new Shape(1 << 20));
            String report = Ebb.reportJson(10);
            assertTrue(report.startsWith("{") && report.contains("ReportTest.java:"), report);
            holding(array);
        }
    }

    @Test
    void whereAResultEscapedTo() {
        try (NDManager model = NDManager.newBaseManager()) {
            model.setName("the model's manager");
            NDArray parameter = model.ones(new Shape(1 << 20));
            NDArray escaped;
            int line;
            try (NDManager batch = model.newSubManager()) {
                NDArray data = batch.ones(new Shape(1 << 20));
                line = line() + 1;
                escaped = parameter.add(data);
            }
            String report = Ebb.report(20);
            assertTrue(report.contains("ReportTest.java:" + line), report);
            assertTrue(report.contains("the model's manager"), report);
            holding(parameter, escaped);
        }
    }

    @Test
    void whatIsMissingIsNamed() {
        assertNeeds("device", () -> Ebb.budget(null, "1GB"));
        assertNeeds("device", () -> Ebb.memory(null));
        assertNeeds("file", () -> Ebb.record(null));
    }

    private static void assertNeeds(String what, Executable call) {
        NullPointerException thrown = assertThrows(NullPointerException.class, call);
        assertTrue(thrown.getMessage().endsWith("a " + what + " is needed"), thrown.getMessage());
    }

    @Test
    void aBudgetThatIsNone() {
        IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Ebb.budget(Device.cpu(), "lots"));
        assertTrue(thrown.getMessage().contains("lots"), thrown.getMessage());
        assertFalse(thrown.getMessage().isBlank());
    }
}
