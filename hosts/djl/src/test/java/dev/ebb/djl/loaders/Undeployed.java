package dev.ebb.djl.loaders;

import dev.ebb.djl.Ebb;
import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Deploys a program some times, each in a class loader that is dropped, and counts the loaders that are left. Its only safe
 * points are calls of {@link Ebb#memory}, if asked for.
 *
 * <pre>Undeployed PROGRAM ask|rest</pre>
 */
public final class Undeployed {
    private static final int TIMES = 4;

    private Undeployed() {}

    public static void main(String[] arguments) throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            loaders.add(deploy(arguments[0]));
        }
        for (int i = 0; i < 10; i++) {
            System.gc();
            if (arguments[1].equals("ask")) {
                Ebb.memory();
            }
            Thread.sleep(50);
        }
        System.out.println("alive=" + loaders.stream().filter(loader -> loader.get() != null).count());
    }

    private static WeakReference<ClassLoader> deploy(String name) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader); // DJL looks for engines there
            Class<?> program = loader.loadClass(name);
            program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            return new WeakReference<>(loader);
        } finally {
            Thread.currentThread().setContextClassLoader(ClassLoader.getSystemClassLoader());
        }
    }
}
