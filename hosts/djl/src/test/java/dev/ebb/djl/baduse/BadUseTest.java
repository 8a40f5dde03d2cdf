package dev.ebb.djl.baduse;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.support.Fork;
import dev.ebb.djl.support.Managers;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Used wrongly, Ebb says what to do, and the program runs on as without it. */
@Tag("once")
class BadUseTest {
    /** Knows nothing of DJL. */
    public static final class NoDjl {
        private NoDjl() {}

        public static void main(String[] arguments) {
            System.out.println("sum=" + (1 + 2));
        }
    }

    /** Uses DJL alone. */
    public static final class OnlyDjl {
        private OnlyDjl() {}

        public static void main(String[] arguments) {
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray array = manager.ones(new Shape(3));
                System.out.println("sum=" + array.add(array).sum().getFloat());
            }
        }
    }

    /** Switches reclaim in code. */
    public static final class InCode {
        private InCode() {}

        public static void main(String[] arguments) {
            System.out.println("switched=" + Ebb.reclaim(true));
            Ebb.reclaim(true);
            Ebb.budget(ai.djl.Device.cpu(), "1GB");
            System.out.println("reclaiming=" + Ebb.isReclaiming());
            System.out.println("created=" + Ebb.memory().created());
            OnlyDjl.main(arguments);
        }
    }

    /** Attaches arrays of an engine that Ebb has no adapter for. */
    public static final class OtherEngine {
        private OtherEngine() {}

        public static void main(String[] arguments) {
            try (NDManager manager = NDManager.newBaseManager()) {
                for (int i = 0; i < 3; i++) {
                    NDArray foreign = (NDArray) java.lang.reflect.Proxy.newProxyInstance(
                            OtherEngine.class.getClassLoader(), new Class<?>[] {NDArray.class},
                            (array, method, given) -> method.getName().equals("getUid") ? "other" : null);
                    Managers.attach(manager, "other" + i, foreign);
                }
                System.gc();
                OnlyDjl.main(arguments);
            }
        }
    }

    /** Loads whatever {@code BaseNDManager} there is. */
    public static final class OtherVersion {
        private OtherVersion() {}

        public static void main(String[] arguments) throws Exception {
            Class.forName("ai.djl.ndarray.BaseNDManager").getConstructor().newInstance();
            System.out.println("sum=3");
        }
    }

    private static String classPathWithout(String... parts) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> Arrays.stream(parts).noneMatch(entry::contains))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static void assertRan(Fork.Result result, double sum) {
        assertEquals(0, result.status(), result.text());
        assertEquals(sum, result.number("sum"), result.text());
    }

    private static void assertSays(Fork.Result result, String... words) {
        for (String word : words) {
            assertTrue(result.text().contains(word), () -> "no \"" + word + "\" in: " + result.text());
        }
    }

    private static void assertSaysOnce(Fork.Result result, String word) {
        assertEquals(2, (result.text() + " ").split(java.util.regex.Pattern.quote(word)).length, result.text());
    }

    @Test
    void noDjlOnTheClassPath() throws Exception {
        String path = classPathWithout("djl");
        Fork.Result result = Fork.reclaiming().classPath(path + File.pathSeparator + testClasses()).run(NoDjl.class);
        assertRan(result, 3);
        assertFalse(result.text().contains("Exception"), result.text());
    }

    private static String testClasses() {
        return NoDjl.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    }

    @Test
    void theAgentIsMissing() throws Exception {
        Fork.Result result = Fork.stock().run(InCode.class);
        assertRan(result, 6);
        assertEquals("false", result.value("switched"));
        assertEquals("false", result.value("reclaiming"));
        assertSays(result, "-javaagent");
        assertSaysOnce(result, "-javaagent");
    }

    @Test
    void aSwitchThatIsNeitherTrueNorFalse() throws Exception {
        String[] wrong = {"-Debb.reclaim=yes", "-Debb.strict=1", "-Debb.trace=on", "-Debb.report=word"};
        Fork.Result result = Fork.withAgent().flag(wrong).run(OnlyDjl.class);
        assertRan(result, 6);
        for (String each : wrong) {
            assertSays(result, each, "allowed");
        }
    }

    @Test
    void theBudgetIsNone() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-Debb.budget=plenty").run(OnlyDjl.class);
        assertRan(result, 6);
        assertSays(result, "plenty", "ebb.budget");
    }

    @Test
    void theAgentIsThereTwice() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-javaagent:" + Fork.agent()).run(OnlyDjl.class);
        assertRan(result, 6);
    }

    @Test
    void twoCopiesOfTheJar(@TempDir Path folder) throws Exception {
        Path copy = Files.copy(Fork.agent(), folder.resolve("another-ebb-djl.jar"));
        String path = copy + File.pathSeparator + System.getProperty("java.class.path");
        Fork.Result onClassPath = Fork.reclaiming().classPath(path).run(InCode.class);
        assertRan(onClassPath, 6);
        assertEquals("true", onClassPath.value("reclaiming"), onClassPath.text());
        Fork.Result asAgents = Fork.reclaiming().flag("-javaagent:" + copy).run(OnlyDjl.class);
        assertRan(asAgents, 6);
    }

    @Test
    void aPlatformWithoutALibrary() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-Dos.arch=vax").run(NoDjl.class);
        assertRan(result, 3);
        assertSays(result, "vax");
    }

    @Test
    void anEngineThatIsNotKnownIsLeftAlone() throws Exception {
        Fork.Result result = Fork.reclaiming().run(OtherEngine.class);
        assertRan(result, 6);
        assertSaysOnce(result, "not known to Ebb");
    }

    @Test
    void aVersionThatIsNotSupported(@TempDir Path folder) throws Exception {
        Path source = Files.createDirectories(folder.resolve("ai/djl/ndarray")).resolve("BaseNDManager.java");
        Files.writeString(source, "package ai.djl.ndarray; public class BaseNDManager { public void close() {} }");
        assertEquals(0, javax.tools.ToolProvider.getSystemJavaCompiler().run(null, null, null, source.toString()));
        String path = folder + File.pathSeparator + classPathWithout("ai/djl");
        Fork.Result result = Fork.reclaiming().classPath(path).run(OtherVersion.class);
        assertRan(result, 3);
        assertSays(result, "0.20.0 to 0.35.1");
        assertSaysOnce(result, "[ebb]");
    }

    @Test
    void anUnknownProperty() throws Exception {
        Fork.Result result = Fork.withAgent().flag("-Debb.reclaim=perhaps").run(OnlyDjl.class);
        assertRan(result, 6);
    }
}
