package dev.ebb.djl.unit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.LeakCheck;
import dev.ebb.djl.junit.NoLeaks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

class ObserveTest {

    @Test
    void aReportNamesTheSiteAndTheManager() {
        Ebb.trace(true);
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.setName("trainer");
            NDArray kept = manager.ones(new Shape(1000));
            String report = Ebb.report(5);
            assertTrue(report.contains("ObserveTest.java:"), report);
            assertTrue(report.contains("manager trainer"), report);
            assertTrue(Ebb.reportJson(5).startsWith("{"));
            assertEquals(1000, kept.size());
        } finally {
            Ebb.trace(false);
        }
    }

    @Test
    void aLeakIsNamedWithItsSite() {
        try (NDManager manager = NDManager.newBaseManager()) {
            LeakCheck check = Ebb.expectNoLeaks();
            Arrays.drop(manager, 3);
            AssertionError error = assertThrows(AssertionError.class, check::close);
            assertTrue(error.getMessage().contains("3 array(s)"), error.getMessage());
            assertTrue(error.getMessage().contains("Arrays.java:"), error.getMessage());
        }
    }

    @Test
    void whatIsClosedOrHandedOutIsNoLeak() {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray[] handedOut = new NDArray[1];
            try (LeakCheck check = Ebb.expectNoLeaks()) {
                manager.ones(new Shape(3)).close();
                try (NDManager sub = manager.newSubManager()) {
                    handedOut[0] = sub.ones(new Shape(3));
                    handedOut[0].attach(manager);
                    sub.ones(new Shape(3)).close();
                }
            }
            assertEquals(3f, Arrays.sum(handedOut[0]));
        }
    }

    @Test
    @ExtendWith(NoLeaks.class)
    void theExtensionPassesACleanTest() {
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.ones(new Shape(3)).close();
        }
    }

    @Test
    void aWrongBudgetSaysWhatIsAllowed() {
        Exception e =
                assertThrows(IllegalArgumentException.class, () -> Ebb.budget(Device.cpu(), "plenty"));
        assertTrue(e.getMessage().contains("2GB"), e.getMessage());
    }
}
