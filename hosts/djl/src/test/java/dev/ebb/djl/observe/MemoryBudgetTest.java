package dev.ebb.djl.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.junit.MemoryBudget;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** {@code @MemoryBudget}, by JUnit's own launcher on a class of tests that have to pass and to fail. */
class MemoryBudgetTest {
    private static final long MB = 1 << 18; // floats

    @EnabledIfSystemProperty(named = "ebb.test.budgets", matches = "true")
    static class Budgets {
        private static List<NDArray> kept;
        private static int runs;

        @Test
        @MemoryBudget(peak = "64MB", leaks = 0)
        void within() {
            try (NDManager manager = NDManager.newBaseManager()) {
                manager.ones(new Shape(4 * MB)).close();
            }
        }

        @Test
        @MemoryBudget(peak = "8MB")
        void over() throws Exception {
            try (NDManager manager = NDManager.newBaseManager()) {
                List<NDArray> all = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    all.add(manager.ones(new Shape(4 * MB)));
                }
                Thread.sleep(100);
                assertEquals(4, all.size());
            }
        }

        /** What nobody can reach does not count. */
        @Test
        @MemoryBudget(peak = "24MB")
        void dropped() throws Exception {
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < 10; i++) {
                    manager.ones(new Shape(4 * MB));
                    Thread.sleep(5);
                }
            }
        }

        @Test
        @MemoryBudget(leaks = 0)
        void leaks() {
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < 3; i++) {
                    manager.ones(new Shape(3));
                }
                dev.ebb.djl.Ebb.collect();
            }
        }

        @Test
        @MemoryBudget(leaks = 3)
        void leaksAsAllowed() {
            leaks();
        }

        @Test
        @MemoryBudget(file = "${budget}")
        void noSuchFile() {}

        @Test
        @MemoryBudget(leaks = 0, warmups = 2)
        void warm() {
            runs++;
            if (runs <= 2) {
                leaks();
            }
        }
    }

    @Test
    void whatTheyComeTo() {
        System.setProperty("ebb.test.budgets", "true");
        Map<String, String> ends = new HashMap<>();
        LauncherDiscoveryRequest request =
                LauncherDiscoveryRequestBuilder.request().selectors(DiscoverySelectors.selectClass(Budgets.class)).build();
        try {
            LauncherFactory.create()
                    .execute(
                            request,
                            new TestExecutionListener() {
                                @Override
                                public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                                    ends.put(
                                            test.getDisplayName(),
                                            result.getThrowable().map(String::valueOf).orElse("passed"));
                                }
                            });
        } finally {
            System.clearProperty("ebb.test.budgets");
        }
        assertEquals("passed", ends.get("within()"));
        assertEquals("passed", ends.get("dropped()"));
        assertEquals("passed", ends.get("leaksAsAllowed()"));
        assertEquals("passed", ends.get("warm()"));
        assertTrue(ends.get("over()").matches("(?s).*peak: \\d{8} bytes, allowed: 8388608"), ends.get("over()"));
        assertTrue(ends.get("leaks()").contains("3 array(s) were made and dropped"), ends.get("leaks()"));
        assertTrue(ends.get("leaks()").contains("MemoryBudgetTest.java:"), ends.get("leaks()"));
        assertTrue(ends.get("noSuchFile()").contains("NoSuchFile"), ends.get("noSuchFile()"));
    }

    @Test
    @MemoryBudget(file = "target/ebb-budget-test.json")
    void byAFile() {
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.ones(new Shape(10)).close();
        }
    }

    @org.junit.jupiter.api.BeforeAll
    static void writeFile() throws Exception {
        Files.createDirectories(Path.of("target"));
        Files.writeString(Path.of("target/ebb-budget-test.json"), "{\"peak\": \"64MB\", \"leaked\": 0, \"created\": 4096}");
    }
}
