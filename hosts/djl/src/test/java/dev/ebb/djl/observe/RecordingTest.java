package dev.ebb.djl.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.EbbException;
import dev.ebb.djl.Memory;
import dev.ebb.djl.Recording;
import dev.ebb.djl.core.observe.Json;
import dev.ebb.djl.core.observe.Tool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingTest {

    @TempDir Path folder;

    private String file() {
        return folder.resolve("a.ebbrec").toString();
    }

    private Map<?, ?> report() throws Exception {
        return (Map<?, ?>) Json.read(Tool.run("report", "--json", "--top", "100", file()));
    }

    private static void make(NDManager manager, int count) {
        for (int i = 0; i < count; i++) {
            manager.ones(new Shape(1000));
        }
    }

    /** Births and ends that wait in their stripes are in it when it ends. */
    @Test
    void itsBooksAreTheBooks() throws Exception {
        try (NDManager manager = NDManager.newBaseManager()) {
            Memory before = Ebb.memory();
            try (Recording recording = Ebb.record(file(), "full", "64MB")) {
                make(manager, 300);
                recording.mark("half");
                make(manager, 200);
            }
            Memory after = Ebb.memory();
            Map<?, ?> report = report();
            assertEquals(Boolean.TRUE, report.get("ended"));
            assertEquals(0.0, report.get("lost"));
            double created = 0;
            for (Object place : (List<?>) report.get("places")) {
                Map<?, ?> each = (Map<?, ?>) place;
                String frame = (String) ((List<?>) each.get("frames")).get(0);
                created += frame.startsWith("RecordingTest.make (RecordingTest.java:") ? (double) each.get("created") : 0;
            }
            assertEquals(500.0, created, report.toString());
            assertTrue(after.created() - before.created() >= 500);
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(Path.of(file()))));
        }
    }

    @Test
    void sampledOnesAreEstimates() throws Exception {
        try (NDManager manager = NDManager.newBaseManager();
                Recording recording = Ebb.record(file())) {
            make(manager, 20_000); // of 4,000 bytes: each 116th
            recording.close();
            double created = 0;
            for (Object place : (List<?>) report().get("places")) {
                created += (double) ((Map<?, ?>) place).get("created");
            }
            assertTrue(created > 8_000 && created < 40_000, "of 20,000: " + created);
        }
    }

    /** Where a trace takes the site of every array, one that has a site stands for itself. */
    @Test
    void aTraceBesideItInflatesNothing() throws Exception {
        Ebb.trace(true);
        try (NDManager manager = NDManager.newBaseManager()) {
            Recording recording = Ebb.record(file());
            make(manager, 500);
            recording.close();
            double created = 0;
            for (Object place : (List<?>) report().get("places")) {
                created += (double) ((Map<?, ?>) place).get("created");
            }
            assertTrue(created < 600, "of 500: " + created);
        } finally {
            Ebb.trace(false);
        }
    }

    /** {@code ebb top}, {@code ebb view --live}: while it records, and no longer. */
    @Test
    void viewersFindTheProcess() throws Exception {
        String id = String.valueOf(ProcessHandle.current().pid());
        try (NDManager manager = NDManager.newBaseManager();
                Recording recording = Ebb.record(file())) {
            make(manager, 10);
            assertTrue(Tool.run("list").contains(id), "nobody finds process " + id);
        }
        assertFalse(Tool.run("list").contains(id), "it records no more");
    }

    @Test
    void oneAtATime() throws Exception {
        Recording first = Ebb.record(file());
        assertThrows(EbbException.class, () -> Ebb.record(folder.resolve("b.ebbrec").toString()));
        assertThrows(IllegalArgumentException.class, () -> first.mode("loud"));
        first.mode("counters");
        first.mode("full");
        first.close();
        first.close();
        assertThrows(EbbException.class, () -> first.mark("late"));
        assertThrows(EbbException.class, () -> first.mode("full"));
        Ebb.record(folder.resolve("b.ebbrec").toString()).close();
        assertTrue(Files.exists(folder.resolve("b.ebbrec")));
    }

    @Test
    void whatCannotBeIsSaid() {
        assertThrows(EbbException.class, () -> Ebb.record(folder.resolve("no/such/folder.ebbrec").toString()));
        assertThrows(IllegalArgumentException.class, () -> Ebb.record(file(), "everything", null));
        assertThrows(IllegalArgumentException.class, () -> Ebb.record(file(), "full", "plenty"));
        assertFalse(Files.exists(Path.of(file())));
    }

    @Test
    void itsThreadEndsWithIt() throws Exception {
        Ebb.record(file()).close();
        for (int i = 0; i < 100 && running(); i++) {
            Thread.sleep(20);
        }
        assertFalse(running());
    }

    private static boolean running() {
        return Thread.getAllStackTraces().keySet().stream().anyMatch(thread -> thread.getName().equals("ebb-recording"));
    }

    @Test
    void jsonThatIsNone() {
        for (String text : List.of("", "{", "[1,", "{\"a\"}", "\"\\u12\"", "nul", "1 2", "{\"a\":}", "[1}", "\"\\x\"")) {
            assertThrows(IllegalArgumentException.class, () -> Json.read(text), text);
        }
        assertThrows(IllegalArgumentException.class, () -> Json.read("[".repeat(10_000)));
        assertEquals(Map.of("a", List.of(1.5, true, "\u00e9\n")), Json.read(" {\"a\": [1.5, true, \"\\u00e9\\n\"]} "));
    }
}
