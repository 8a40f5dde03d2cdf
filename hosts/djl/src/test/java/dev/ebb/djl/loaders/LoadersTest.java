package dev.ebb.djl.loaders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.LeakCheck;
import dev.ebb.djl.collectors.BoundedLoop;
import dev.ebb.djl.hazards.OwnMemory;
import dev.ebb.djl.support.Fork;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** DJL in another class loader than the agent. */
@Tag("once")
class LoadersTest {
    private static final int MILLION = 1 << 20;
    private static final int BUDGET_MB = 256;

    /** Uses Ebb's API from inside the isolated loader. */
    public static final class UsesApi {
        private UsesApi() {}

        public static void main(String[] arguments) {
            try (NDManager manager = NDManager.newBaseManager()) {
                NDArray x = manager.ones(new Shape(1000));
                LeakCheck check = Ebb.expectNoLeaks();
                for (int i = 0; i < 20; i++) {
                    x.mul(2).add(1);
                }
                System.out.println("leaks=" + check.leaks().size());
                System.out.println("reclaiming=" + Ebb.isReclaiming());
                System.out.println("reclaimed=" + Ebb.memory().reclaimed());
                Ebb.audit();
                Ebb.budget(Device.cpu(), "plenty");
            } catch (IllegalArgumentException e) {
                System.out.println("refused=" + e.getMessage());
            }
        }
    }

    private static String[] entries() {
        return System.getProperty("java.class.path").split(File.pathSeparator);
    }

    /** Only the launching class is left on the class path. */
    private static Fork isolated(Path folder, boolean withApi) throws Exception {
        String name = Isolated.class.getName().replace('.', '/') + ".class";
        Path target = folder.resolve(name);
        Files.createDirectories(target.getParent());
        try (var in = Isolated.class.getClassLoader().getResourceAsStream(name)) {
            Files.copy(in, target);
        }
        String inner =
                Arrays.stream(entries())
                        .filter(entry -> withApi || !entry.equals(Fork.agent().toString()))
                        .collect(Collectors.joining(File.pathSeparator));
        return Fork.reclaiming()
                .flag("-Debb.isolated=" + inner, "-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch")
                .classPath(folder.toString());
    }

    @Test
    void reclaimWorksThere(@TempDir Path folder) throws Exception {
        Fork.Result result =
                isolated(folder, false)
                        .flag("-Debb.budget=" + BUDGET_MB + "MB")
                        .run(Isolated.class, BoundedLoop.class.getName(), 150, MILLION);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("growth") <= 1.25 * BUDGET_MB, result.text());
    }

    @Test
    void ownMemoryToo(@TempDir Path folder) throws Exception {
        Fork.Result result = isolated(folder, false).run(Isolated.class, OwnMemory.class.getName(), "view");
        assertEquals(0, result.status(), result.text());
        assertEquals(0, result.number("wrong"));
    }

    @Test
    void theApiThereIsTheAgents(@TempDir Path folder) throws Exception {
        Fork.Result result = isolated(folder, true).run(Isolated.class, UsesApi.class.getName());
        assertEquals(0, result.status(), result.text());
        assertEquals("true", result.value("reclaiming"), result.text());
        assertTrue(result.number("reclaimed") >= 35, result.text());
        assertTrue(result.number("leaks") >= 35, result.text());
        assertTrue(result.value("refused").contains("plenty"), result.text());
    }

    /** Its arrays are the engine's business: nothing of Ebb's may keep them, or their class loader. */
    @Test
    void anEngineWithoutAnAdapterIsLeftAloneAndUnloads() throws Exception {
        assertEquals(0, Fork.stock().run(Undeployed.class, OtherEngine.class.getName(), "rest").number("alive"));
        Fork.Result result = Fork.reclaiming().run(Undeployed.class, OtherEngine.class.getName(), "rest");
        assertEquals(0, result.number("alive"), result.text());
        assertEquals(2, result.text().split("not known to Ebb", -1).length, result.text());
    }

    /** Reads the API by reflection where no DJL can be seen. */
    public static final class Reflects {
        private Reflects() {}

        public static void main(String[] arguments) throws Exception {
            Class<?> api = Class.forName("dev.ebb.djl.Ebb");
            api.getMethod("budget", Object.class, String.class).invoke(null, "cpu()", "1GB");
            System.out.println("reclaiming=" + api.getMethod("isReclaiming").invoke(null));
        }
    }

    @Test
    void theApiNamesNoTypeOfDjls() throws Exception {
        String path =
                Arrays.stream(entries()).filter(entry -> !entry.contains("djl/")).collect(Collectors.joining(File.pathSeparator));
        String own = LoadersTest.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        Fork.Result result =
                Fork.reclaiming().classPath(String.join(File.pathSeparator, path, own)).run(Reflects.class);
        assertEquals("true", result.value("reclaiming"), result.text());
    }

    @Test
    void aSpringBootJar(@TempDir Path folder) throws Exception {
        String inner =
                Arrays.stream(entries())
                        .filter(entry -> !entry.equals(Fork.agent().toString()))
                        .collect(Collectors.joining(File.pathSeparator));
        Path jar = BootJar.write(folder.resolve("app.jar"), BoundedLoop.class, inner);
        Fork.Result result =
                Fork.reclaiming()
                        .flag("-Debb.budget=" + BUDGET_MB + "MB", "-Xms192m", "-Xmx192m", "-XX:+AlwaysPreTouch")
                        .classPath(jar.toString())
                        .run("org.springframework.boot.loader.launch.JarLauncher", 150, MILLION);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("growth") <= 1.25 * BUDGET_MB, result.text());
    }
}
