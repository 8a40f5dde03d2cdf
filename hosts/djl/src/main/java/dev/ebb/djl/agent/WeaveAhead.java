package dev.ebb.djl.agent;

import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Of the build: fills {@link Woven#FOLDER}.
 *
 * <pre>WeaveAhead CLASSES FOLDER</pre>
 *
 * <p>FOLDER has a folder for each version of DJL, with its jars; what else is needed to weave is on the class path.
 */
final class WeaveAhead {

    private WeaveAhead() {}

    public static void main(String[] arguments) throws Exception {
        Path target = Files.createDirectories(Path.of(arguments[0]).resolve(Woven.FOLDER));
        try (Stream<Path> versions = Files.list(Path.of(arguments[1]))) {
            for (Path version : versions.sorted().toList()) {
                weave(version, target);
            }
        }
    }

    private static void weave(Path version, Path target) throws Exception {
        List<URL> own = new ArrayList<>();
        try (Stream<Path> jars = Files.list(version)) {
            for (Path jar : jars.toList()) {
                own.add(url(jar));
            }
        }
        List<URL> all = new ArrayList<>(own);
        for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            all.add(url(Path.of(entry)));
        }
        try (URLClassLoader djl = loader(own);
                URLClassLoader loader = loader(all)) {
            for (String type : Woven.NAMES) {
                URL found = djl.findResource(file(type));
                if (found != null) { // 0.20 has no NDScope
                    weave(type, found, loader, target);
                }
            }
        }
    }

    private static URLClassLoader loader(List<URL> path) {
        return new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static URL url(Path path) throws MalformedURLException {
        return path.toUri().toURL();
    }

    private static String file(String type) {
        return type.replace('.', '/') + ".class";
    }

    private static void weave(String type, URL found, ClassLoader loader, Path target) throws Exception {
        byte[] content = read(found);
        byte[] woven = Weaver.transformer().transform(loader, type.replace('.', '/'), null, null, content);
        Files.write(target.resolve(Woven.file(type, content)), woven);
    }

    private static byte[] read(URL found) throws IOException {
        try (InputStream content = found.openStream()) {
            return content.readAllBytes();
        }
    }
}
