package dev.ebb.djl.core.observe;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.Native;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;

/**
 * What holds arrays: a heap dump, which {@link HeapPaths} reads in a JVM of its own. The dump holds the program up, for about
 * a second a gigabyte, needs as much disk as there is heap, and is deleted at once.
 */
public final class Holders {

    static final String WHY_NOT =
            "the JVM's heap is larger than 1 GB, and a dump of it would hold the program up for seconds";

    private static final long LARGE = 1L << 30;
    private static final int PATIENCE_SECONDS = 300;

    /** Found in the dump by its class. */
    @SuppressWarnings("unused")
    private static Question question;

    private Holders() {}

    /** The array that is asked about, if it is one, without holding it, and the thread whose methods have it because they ask. */
    static final class Question extends WeakReference<Object> {
        final Thread asker = Thread.currentThread();

        Question(Object array) {
            super(array);
        }
    }

    static boolean tooLarge() {
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory() > LARGE;
    }

    /** Paths to most of the arrays that were made at these sites and live. Of a site that has none there is no entry. */
    static synchronized Map<Integer, String> ofSites(Collection<Integer> sites) throws IOException, InterruptedException {
        String list = sites.stream().map(String::valueOf).collect(Collectors.joining(","));
        Map<Integer, String> found = new HashMap<>();
        for (String line : dumped(null, list).split("\n")) {
            String[] parts = line.split("\t", 2);
            if (parts.length == 2) {
                found.put(Integer.valueOf(parts[0]), parts[1]);
            }
        }
        return found;
    }

    /** The path to one array. */
    public static synchronized String of(Object array, boolean evenIfLarge) {
        refuse("why", evenIfLarge);
        String[] line = asked("why", () -> dumped(array, "")).strip().split("\t", 2);
        return line.length == 2 ? line[1] : "nothing";
    }

    /** Of the places whose text contains this, by their text. */
    public static Map<String, String> ofPlaces(String part, boolean evenIfLarge) {
        refuse("holders", evenIfLarge);
        Map<String, String> byPlace = new TreeMap<>();
        List<Integer> sites = Arrays.stream(Native.sitesWith(part)).boxed().toList();
        if (!sites.isEmpty()) {
            asked("holders", () -> ofSites(sites)).forEach((site, path) -> byPlace.put(Native.siteText(site), path));
        }
        return byPlace;
    }

    private static void refuse(String call, boolean evenIfLarge) {
        if (!evenIfLarge && tooLarge()) {
            throw new EbbException("[" + call + "] " + WHY_NOT + "; with true as the last argument it is done all the same");
        }
    }

    private static <T> T asked(String call, Callable<T> search) {
        try {
            return search.call();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EbbException("[" + call + "] interrupted");
        } catch (EbbException e) {
            throw e;
        } catch (Exception e) {
            throw new EbbException("[" + call + "] the heap could not be looked at: " + e);
        }
    }

    private static String dumped(Object array, String sites) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("ebb-why"); // its owner's only
        Path dump = folder.resolve("heap.hprof");
        question = new Question(array);
        try {
            HotSpotDiagnosticMXBean dumps = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            Recorder.whileItStandsStill(() -> dumps.dumpHeap(dump.toString(), true));
            return Tool.output(command(dump, sites), PATIENCE_SECONDS);
        } finally {
            question = null;
            Files.deleteIfExists(dump);
            Files.deleteIfExists(folder);
        }
    }

    /** The reader keeps about as much as the dump is large. */
    private static List<String> command(Path dump, String sites) throws IOException {
        long megabytes = 256 + Files.size(dump) / (1 << 20);
        return List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx" + megabytes + "m",
                "-XX:+UseSerialGC",
                "-cp",
                ownJar(),
                HeapPaths.class.getName(),
                dump.toString(),
                sites);
    }

    private static String ownJar() throws IOException {
        try {
            return Path.of(Holders.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
    }
}
