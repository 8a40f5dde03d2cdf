package dev.ebb.djl.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.observe.Tool;
import dev.ebb.djl.support.Fork;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code java -jar ebb-djl.jar run -- java ...}: line and holder of what grows, nothing of what does not. */
@Tag("once")
class RunTest {
    private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

    @TempDir Path folder;

    private Fork under(String... options) {
        return Fork.stock()
                .prefix(JAVA, "-jar", Fork.agent().toString(), "run", "--after", "2", "--out", folder + "/a.ebbrec")
                .prefix(options)
                .prefix("--")
                .flag("-Xmx512m");
    }

    private Fork.Result run(String what, String how, int seconds, String... options) throws Exception {
        Fork.Result result = under(options).run(Growing.class, what, how, seconds);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.text().contains("ended well"), result.text());
        assertTrue(Files.size(folder.resolve("a.ebbrec")) > 1000, result.text());
        return result;
    }

    @Test
    void aTrainerThatKeepsItsOutputsIsNamed() throws Exception {
        String said = run("trainer", "leak", 8).text();
        assertTrue(said.contains("growing +"), said);
        assertTrue(said.matches("(?s).*growing \\+[^:]*: Growing\\.step \\(Growing\\.java:\\d+\\).*"), said);
        assertTrue(said.contains("(Growing$History) -> .outputs (ArrayList) -> [] (PtNDArray)"), said);
        assertTrue(said.contains("given back)"), said);
        assertTrue(said.contains("report: " + folder + "/a.html"), said);
        // The page has the holder, which is in the recording.
        assertTrue(Files.readString(folder.resolve("a.html")).contains("Growing$History"), said);
        assertTrue(Tool.run("report", "--json", "--top", "1000", folder + "/a.ebbrec").contains("Growing$History"), said);
    }

    /** Nothing is explained in the process itself; a viewer asks, and is answered. */
    @Test
    void aViewerIsToldWhatHolds() throws Exception {
        List<String> command =
                Fork.reclaiming()
                        .flag("-Xmx512m", "-Debb.record=full", "-Debb.record.file=" + folder + "/b.ebbrec")
                        .command(Growing.class.getName(), "pool", "leak", 180);
        Process program = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(folder.resolve("b.txt").toFile()).start();
        try {
            String said = "";
            for (int i = 0; i < 10 && !said.contains("held by: Growing.ANSWERS (HashMap)"); i++) {
                Thread.sleep(3000);
                said = reported(program.pid());
            }
            assertTrue(said.contains("Growing.answer (Growing.java:"), said);
            assertTrue(said.contains("held by: Growing.ANSWERS (HashMap) -> [] (NDList) -> [] (PtNDArray)"), said);
        } finally {
            program.destroyForcibly().waitFor();
        }
    }

    private static String reported(long pid) throws Exception {
        try {
            return Tool.run("report", Long.toString(pid), "--collect", "--why");
        } catch (EbbException e) {
            return e.getMessage(); // not there yet
        }
    }

    @Test
    void aPoolThatKeepsItsAnswersIsNamed() throws Exception {
        String said = run("pool", "leak", 8).text();
        assertTrue(said.matches("(?s).*growing \\+[^:]*: Growing\\.answer \\(Growing\\.java:\\d+\\).*"), said);
        assertTrue(said.contains("held by: Growing.ANSWERS (HashMap) -> [] (NDList) -> [] (PtNDArray)"), said);
    }

    @Test
    void carelessButCleanOnesAreFlat() throws Exception {
        for (String what : List.of("trainer", "pool")) {
            String said = run(what, "clean", 6).text();
            assertTrue(said.contains("[ebb] flat at "), said);
            assertFalse(said.contains("growing"), said);
        }
    }

    @Test
    void pastTheBudgetItIsExplained() throws Exception {
        String said = run("pool", "leak", 5, "--budget", "8MB", "--no-why").text();
        assertTrue(said.contains("asked for by this warning: "), said);
    }

    @Test
    void whatIsNoJavaHandsItOn() throws Exception {
        Fork.Result result =
                Fork.stock()
                        .prefix(JAVA, "-jar", Fork.agent().toString(), "run", "--out", folder + "/%n-%p.ebbrec", "--", "env")
                        .run(Growing.class, "pool", "clean", 2);
        assertEquals(0, result.status(), result.text());
        try (var files = Files.list(folder)) {
            List<String> names = files.map(file -> file.getFileName().toString()).sorted().toList();
            assertEquals(2, names.size(), names + result.text());
            assertTrue(names.get(0).matches("Growing-\\d+\\.ebbrec"), names.toString());
            assertTrue(names.get(1).matches("Growing-\\d+\\.html"), names.toString());
        }
    }

    @Test
    void theStatusIsThePrograms() throws Exception {
        assertEquals(1, under().run("dev.ebb.djl.NoSuchProgram").status());
        Fork.Result wrong = Fork.stock().prefix(JAVA, "-jar", Fork.agent().toString(), "run", "--color", "--").run(Growing.class);
        assertEquals(2, wrong.status(), wrong.text());
        assertTrue(wrong.text().contains("--color is no option"), wrong.text());
        Fork.Result absent =
                Fork.stock().prefix(JAVA, "-jar", Fork.agent().toString(), "run", "--", "/no/such/command").run(Growing.class);
        assertEquals(2, absent.status(), absent.text());
    }
}
