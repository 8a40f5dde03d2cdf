package dev.ebb.djl.loaders;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Deploys {@link OtherEngine} some times, each in a class loader that is dropped, and counts the loaders that are left. */
public final class Undeployed {
    private static final int TIMES = 4;

    private Undeployed() {}

    public static void main(String[] arguments) throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            loaders.add(deploy());
        }
        for (int i = 0; i < 10; i++) {
            System.gc();
            Thread.sleep(50);
        }
        System.out.println("alive=" + loaders.stream().filter(loader -> loader.get() != null).count());
    }

    private static WeakReference<ClassLoader> deploy() throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader); // DJL looks for engines there
            Class<?> program = loader.loadClass(OtherEngine.class.getName());
            program.getMethod("main", String[].class).invoke(null, (Object) new String[0]);
            return new WeakReference<>(loader);
        } finally {
            Thread.currentThread().setContextClassLoader(ClassLoader.getSystemClassLoader());
        }
    }
}
