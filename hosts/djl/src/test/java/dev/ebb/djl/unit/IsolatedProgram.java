package dev.ebb.djl.unit;

import dev.ebb.djl.Ebb;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/** Runs a program with DJL in a class loader that does not see the agent's jar; says what the agent's books say. */
public final class IsolatedProgram {

    private IsolatedProgram() {}

    public static void main(String[] arguments) throws Exception {
        List<URL> path = new ArrayList<>();
        for (String entry : arguments[0].split(File.pathSeparator)) {
            path.add(new File(entry).toURI().toURL());
        }
        try (URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            Class<?> program = loader.loadClass(arguments[1]);
            program.getMethod("main", String[].class).invoke(null, (Object) new String[] {"2000"});
        }
        System.out.println("agent's books: " + Ebb.memory());
    }
}
