package dev.ebb.djl.agent;

import dev.ebb.djl.core.Messages;
import dev.ebb.djl.hooks.Hooks;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Sees to it that woven code finds {@link Hooks}. A class loader that asks the system's finds the agent's copy. For one
 * that does not, a copy goes to the bootstrap loader, where everyone looks (not at once: the JVM then stops sharing
 * archived classes, and says so). One that has a copy of its own (two jars, child first) keeps it. Copies are led to the
 * agent's target.
 */
final class HookSight {

    private static final String NAME = Hooks.class.getName();

    private final Instrumentation instrumentation;

    HookSight(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    synchronized void ensure(ClassLoader loader) {
        try {
            lead(seenFrom(loader));
        } catch (ReflectiveOperationException | IOException e) {
            Messages.say("DJL's class loader " + loader + " cannot be shown Ebb's hooks: " + e);
        }
    }

    private Class<?> seenFrom(ClassLoader loader) throws ClassNotFoundException, IOException {
        try {
            return Class.forName(NAME, true, loader);
        } catch (ClassNotFoundException e) {
            instrumentation.appendToBootstrapClassLoaderSearch(hooksJar());
            return Class.forName(NAME, true, null);
        }
    }

    private static void lead(Class<?> hooks) throws ReflectiveOperationException {
        if (hooks == Hooks.class || hooks.getMethod("target").invoke(null) != null) {
            return;
        }
        Class<?> target = Class.forName(NAME + "$Target", true, hooks.getClassLoader());
        Object led =
                Proxy.newProxyInstance(
                        target.getClassLoader(), new Class<?>[] {target}, HookSight::forward);
        hooks.getMethod("install", target).invoke(null, led);
    }

    private static Object forward(Object proxy, Method called, Object[] arguments) throws Throwable {
        Method own =
                called.getDeclaringClass() == Object.class
                        ? called
                        : Hooks.Target.class.getMethod(called.getName(), called.getParameterTypes());
        try {
            return own.invoke(Hooks.target(), arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static JarFile hooksJar() throws IOException {
        File file = File.createTempFile("ebb-hooks", ".jar");
        file.deleteOnExit();
        try (OutputStream out = Files.newOutputStream(file.toPath());
                ZipOutputStream jar = new ZipOutputStream(out)) {
            for (String suffix : new String[] {"", "$Target", "$Kept"}) {
                String entry = (NAME + suffix).replace('.', '/') + ".class";
                jar.putNextEntry(new ZipEntry(entry));
                try (InputStream bytes = Hooks.class.getResourceAsStream("/" + entry)) {
                    bytes.transferTo(jar);
                }
            }
        }
        return new JarFile(file);
    }
}
