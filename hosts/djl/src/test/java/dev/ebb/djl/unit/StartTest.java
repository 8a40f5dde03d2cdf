package dev.ebb.djl.unit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StartTest {

    private static ChildJvm endsWell(ChildJvm child) {
        assertEquals(0, child.status, child.output);
        assertTrue(child.output.contains("ended well"), child.output);
        return child;
    }

    private static ChildJvm careless(String... options) throws Exception {
        return endsWell(ChildJvm.run(List.of(options), ChildJvm.everything(), CarelessProgram.class, "10"));
    }

    private static ChildJvm empty(String... options) throws Exception {
        return endsWell(ChildJvm.run(List.of(options), ChildJvm.without("ai/djl", ChildJvm.JAR), EmptyProgram.class));
    }

    /** The program and everything on {@code inner} in a class loader that does not ask the system's. */
    private static ChildJvm isolated(String inner, Class<?> program, String... options) throws Exception {
        String outer = ChildJvm.without("ai/djl", "onnxruntime");
        return endsWell(ChildJvm.run(List.of(options), outer, IsolatedProgram.class, inner, program.getName()));
    }

    private static long number(String name, ChildJvm child) {
        Matcher found = Pattern.compile(name + "[ =](\\d+)").matcher(child.output);
        assertTrue(found.find(), child.output);
        return Long.parseLong(found.group(1));
    }

    @Test
    void withoutTheAgentItSaysSoAndTheProgramRunsOn() throws Exception {
        ChildJvm child = careless();
        assertTrue(child.output.contains("switched false"), child.output);
        assertEquals(1, child.output.split("-javaagent").length - 1, child.output);
    }

    @Test
    void withoutDjlTheAgentIsQuiet() throws Exception {
        assertEquals("ended well", empty(ChildJvm.agent(), "-Debb.reclaim=true").output.trim());
    }

    @Test
    void aWrongBudgetIsNamedAndIgnored() throws Exception {
        ChildJvm child = careless(ChildJvm.agent(), "-Debb.budget=lots");
        assertTrue(child.output.contains("'lots' was given"), child.output);
        assertTrue(child.output.contains("switched true"), child.output);
    }

    @Test
    void theAgentGivenTwiceSaysSo() throws Exception {
        ChildJvm child = careless(ChildJvm.agent(), ChildJvm.agent());
        assertTrue(child.output.contains("once is enough"), child.output);
        assertTrue(child.output.contains("switched true"), child.output);
    }

    @Test
    void anotherPlatformIsNamed() throws Exception {
        ChildJvm child = empty(ChildJvm.agent(), "-Dos.arch=sparc");
        assertTrue(child.output.contains("no library for linux-sparc"), child.output);
    }

    /** The classes of the versions that the jar was built with are ready in it: weaving them took most of the start. */
    @Test
    void nothingIsWovenAtTheStart() throws Exception {
        ChildJvm child = careless(ChildJvm.agent(), "-Xlog:class+load");
        assertTrue(child.output.contains("ai.djl.pytorch.jni.JniUtils "), child.output);
        assertFalse(child.output.contains("dev.ebb.djl.shaded.bytebuddy"), "Byte Buddy was loaded");
    }

    @Test
    void djlInAClassLoaderOfItsOwn() throws Exception {
        String inner = ChildJvm.without(ChildJvm.JAR);
        ChildJvm child = isolated(inner, PlainProgram.class, ChildJvm.agent(), "-Debb.reclaim=true");
        assertTrue(number("created", child) > 2000, child.output);
    }

    @Test
    void aSecondCopyOfTheJarIsNamed() throws Exception {
        String inner = ChildJvm.everything() + java.io.File.pathSeparator + ChildJvm.JAR;
        ChildJvm child =
                isolated(inner, CarelessProgram.class, ChildJvm.agent(), "-Debb.reclaim=true", "-Debb.budget=64MB");
        assertTrue(child.output.contains("second copy"), child.output);
        assertTrue(number("created", child) > 2000, child.output);
        assertFalse(child.output.contains("agent is missing"), child.output);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-XX:+UseG1GC",
                "-XX:+UseParallelGC",
                "-XX:+UseSerialGC",
                "-XX:+UseZGC",
                "-XX:+UseShenandoahGC",
                "-XX:+DisableExplicitGC",
                "-XX:+ExplicitGCInvokesConcurrent"
            })
    void thePeakStaysUnderTheBudgetWithEveryCollector(String option) throws Exception {
        ChildJvm child =
                ChildJvm.run(
                        List.of(ChildJvm.agent(), "-Debb.budget=64MB", option),
                        ChildJvm.everything(),
                        CarelessProgram.class,
                        "2000");
        if (child.output.contains("Option " + option.substring(5) + " not supported")) {
            return; // this JDK has no such collector
        }
        endsWell(child);
        assertTrue(number("peak", child) <= 80, child.output);
        assertTrue(number("reclaimed", child) > 1900, child.output);
        assertFalse(child.output.contains("over"), child.output);
    }
}
