package dev.ebb.djl.loaders;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.CRC32;

/** A jar as Spring Boot's build makes it: its loader unpacked, the program's class path as jars inside. */
final class BootJar {
    private static final String LAUNCHER = "org.springframework.boot.loader.launch.JarLauncher";

    private final JarOutputStream out;
    private final Set<String> written = new HashSet<>();

    private BootJar(OutputStream file, Class<?> program) throws IOException {
        Manifest manifest = new Manifest();
        Attributes main = manifest.getMainAttributes();
        main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        main.put(Attributes.Name.MAIN_CLASS, LAUNCHER);
        main.putValue("Start-Class", program.getName());
        main.putValue("Spring-Boot-Classes", "BOOT-INF/classes/");
        main.putValue("Spring-Boot-Lib", "BOOT-INF/lib/");
        out = new JarOutputStream(file, manifest);
        for (String folder : new String[] {"BOOT-INF/", "BOOT-INF/classes/", "BOOT-INF/lib/"}) {
            store(folder, new byte[0]);
        }
    }

    static Path write(Path target, Class<?> program, String classPath) throws IOException {
        try (OutputStream file = Files.newOutputStream(target)) {
            BootJar jar = new BootJar(file, program);
            for (String entry : classPath.split(File.pathSeparator)) {
                jar.add(Path.of(entry));
            }
            jar.out.close();
        }
        return target;
    }

    private void add(Path entry) throws IOException {
        if (Files.isDirectory(entry)) {
            addClasses(entry);
        } else if (entry.getFileName().toString().startsWith("spring-boot-loader")) {
            addUnpacked(entry);
        } else if (Files.exists(entry)) {
            store("BOOT-INF/lib/" + entry.getFileName(), Files.readAllBytes(entry));
        }
    }

    private void addClasses(Path folder) throws IOException {
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                        String name = folder.relativize(file).toString().replace(File.separatorChar, '/');
                        store("BOOT-INF/classes/" + name, Files.readAllBytes(file));
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    private void addUnpacked(Path jar) throws IOException {
        try (JarInputStream in = new JarInputStream(Files.newInputStream(jar))) {
            for (JarEntry entry = in.getNextJarEntry(); entry != null; entry = in.getNextJarEntry()) {
                if (!entry.isDirectory() && !entry.getName().startsWith("META-INF/MANIFEST")) {
                    store(entry.getName(), in.readAllBytes());
                }
            }
        }
    }

    /** Not compressed: the loader reads jars where they are. */
    private void store(String name, byte[] bytes) throws IOException {
        if (!written.add(name)) {
            return;
        }
        CRC32 sum = new CRC32();
        sum.update(bytes);
        JarEntry entry = new JarEntry(name);
        entry.setMethod(JarEntry.STORED);
        entry.setSize(bytes.length);
        entry.setCrc(sum.getValue());
        out.putNextEntry(entry);
        out.write(bytes);
        out.closeEntry();
    }
}
