package dev.ebb.djl.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** With every call of JNI and JVMTI failing in turn. The jar that can is made by {@code tools/jvm.py}. */
@Tag("once")
@EnabledIfSystemProperty(named = FaultsTest.JAR, matches = ".+")
class FaultsTest {
    static final String JAR = "ebb.test.faulty";

    @Test
    void nothingCrashesOrLeaksOrIsUnbalanced() throws Exception {
        String jar = System.getProperty(JAR);
        String path = System.getProperty("java.class.path").replace(Fork.agent().toString(), jar);
        Fork.Result result = Fork.stock().flag("-javaagent:" + jar, "-Xmx256m").classPath(path).seconds(600).run(Faults.class);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("points") > 300, result.text());
    }
}
