package dev.ebb.djl.loaders;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs a program, DJL with it, in a class loader of its own, as application servers and Spring Boot's jars do.
 * Property {@code ebb.isolated} is its class path; this JVM's has neither.
 *
 * <pre>Isolated MAIN ARGUMENT...</pre>
 */
public final class Isolated {
    private Isolated() {}

    public static void main(String[] arguments) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("ebb.isolated").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        ClassLoader loader = new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        Class<?> program = loader.loadClass(arguments[0]);
        String[] rest = List.of(arguments).subList(1, arguments.length).toArray(String[]::new);
        program.getMethod("main", String[].class).invoke(null, (Object) rest);
    }
}
