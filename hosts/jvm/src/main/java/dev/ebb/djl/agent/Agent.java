package dev.ebb.djl.agent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * {@code -javaagent:ebb-djl.jar}. Whatever goes wrong is said in one line, and the program runs as without Ebb.
 *
 * <p>The hooks have to be in the bootstrap loader before any class that names them is loaded, so this class names none.
 */
public final class Agent {

    private static final String HOOKS = "dev/ebb/djl/hooks/Hooks";
    private static final String[] HOOK_CLASSES = {HOOKS, HOOKS + "$Target", HOOKS + "$Kept"};

    private Agent() {}

    /** At the start of the JVM. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        install(instrumentation);
    }

    /** Into a running JVM; managers that exist already stay as they are. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        install(instrumentation);
    }

    private static void install(Instrumentation instrumentation) {
        try {
            if (hooksPresent()) {
                System.err.println(
                        "[ebb] another copy of ebb-djl is at work in this JVM; this one does nothing. Give"
                                + " -javaagent only once");
                return;
            }
            instrumentation.appendToBootstrapClassLoaderSearch(hooksJar());
            Weaver.install(instrumentation);
        } catch (Throwable e) {
            System.err.println("[ebb] the agent could not start, the program runs without it: " + e);
        }
    }

    private static boolean hooksPresent() {
        try {
            Class.forName(HOOKS.replace('/', '.'), false, null);
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private static JarFile hooksJar() throws IOException {
        File file = File.createTempFile("ebb-hooks", ".jar");
        file.deleteOnExit();
        try (OutputStream out = Files.newOutputStream(file.toPath());
                ZipOutputStream jar = new ZipOutputStream(out)) {
            for (String name : HOOK_CLASSES) {
                jar.putNextEntry(new ZipEntry(name + ".class"));
                try (InputStream bytes = Agent.class.getResourceAsStream("/" + name + ".class")) {
                    bytes.transferTo(jar);
                }
            }
        }
        return new JarFile(file);
    }
}
