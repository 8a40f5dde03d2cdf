package dev.ebb.djl.core.engines;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An engine of a version that Ebb does not know: its arrays are left alone, and that is said once. */
@Tag("once")
class KindsTest {
    private static final String NAME = "ai.djl.pytorch.engine.PtNDArray";

    /** Its own, so that it is another class than the real one. */
    private static URLClassLoader compile(Path folder) throws Exception {
        Path source = Files.createDirectories(folder.resolve("ai/djl/pytorch/engine")).resolve("PtNDArray.java");
        Files.writeString(source, "package ai.djl.pytorch.engine; public class PtNDArray { public long address; }");
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, source.toString()));
        return new URLClassLoader(new URL[] {folder.toUri().toURL()}, null);
    }

    private static String said(Runnable call) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            call.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    @Test
    void anEngineThatIsBuiltOtherwiseIsLeftAlone(@TempDir Path folder) throws Exception {
        try (URLClassLoader loader = compile(folder)) {
            Object array = loader.loadClass(NAME).getConstructor().newInstance();
            String text = said(() -> assertSame(Kinds.OTHER, Kinds.of(array)));
            assertEquals(1, text.split("Supported: DJL 0.20.0 to 0.35.1", -1).length - 1, text);
            assertEquals("", said(() -> assertSame(Kinds.OTHER, Kinds.of(array))));
        }
    }
}
