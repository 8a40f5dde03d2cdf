package dev.ebb.djl.soak;

import dev.ebb.djl.observe.Growing;
import dev.ebb.djl.support.Fork;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A trainer and a pool of predictors that leak, and their clean versions, under {@code run}, all at once: line and holder are
 * named within a minute of the start of each, and nothing of the clean ones.
 *
 * <pre>Found SECONDS</pre>
 *
 * SECONDS: of a clean run.
 */
public final class Found {
    private static final int LEAKING_SECONDS = 40; // leaves time to start, to find the holder and to say so
    private static final double MOST_SECONDS = 60;
    private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

    private Found() {}

    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<Boolean>> ends = new ArrayList<>();
        ends.add(threads.submit(run(LEAKING_SECONDS, "trainer", "leak", "Growing.step (Growing.java:", ".outputs (ArrayList)")));
        ends.add(threads.submit(run(LEAKING_SECONDS, "pool", "leak", "Growing.answer (Growing.java:", "Growing.ANSWERS (HashMap)")));
        ends.add(threads.submit(run(seconds, "trainer", "clean", "[ebb] flat at ")));
        ends.add(threads.submit(run(seconds, "pool", "clean", "[ebb] flat at ")));
        boolean good = true;
        for (Future<Boolean> end : ends) {
            good &= end.get();
        }
        threads.shutdown();
        System.exit(good ? 0 : 1);
    }

    private static Callable<Boolean> run(int seconds, String what, String how, String... expected) {
        return () -> {
            File file = File.createTempFile("ebb-" + what, ".ebbrec");
            long start = System.nanoTime();
            Fork.Result result =
                    Fork.stock()
                            .prefix(JAVA, "-jar", Fork.agent().toString(), "run", "--out", file.toString(), "--")
                            .flag("-Xmx512m")
                            .seconds(seconds + 120)
                            .run(Growing.class, what, how, seconds);
            double taken = (System.nanoTime() - start) / 1e9;
            file.delete();
            boolean good = result.status() == 0;
            good &= how.equals("leak") ? taken <= MOST_SECONDS : !result.text().contains("growing");
            for (String part : expected) {
                good &= result.text().contains(part);
            }
            System.out.printf("%s%s, %s, all said %.1f s after its start%n%s", good ? "ok    " : "FAULT ", what, how, taken, result.text());
            return good;
        };
    }
}
