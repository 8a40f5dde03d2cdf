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
 * Two leaking programs and their clean versions under {@code run}, all at once: line and holder are named, and nothing of the
 * clean ones.
 *
 * <pre>Found SECONDS</pre>
 */
public final class Found {
    private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java").toString();

    private Found() {}

    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<Boolean>> ends = new ArrayList<>();
        ends.add(threads.submit(run(seconds, "trainer", "leak", "Growing.step (Growing.java:", ".outputs (ArrayList)")));
        ends.add(threads.submit(run(seconds, "pool", "leak", "Growing.answer (Growing.java:", "Growing.ANSWERS (HashMap)")));
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
            Fork.Result result =
                    Fork.stock()
                            .prefix(JAVA, "-jar", Fork.agent().toString(), "run", "--out", file.toString(), "--")
                            .flag("-Xmx512m")
                            .seconds(seconds + 120)
                            .run(Growing.class, what, how, seconds);
            file.delete();
            boolean good = result.status() == 0 && (how.equals("leak") || !result.text().contains("growing"));
            for (String part : expected) {
                good &= result.text().contains(part);
            }
            System.out.println((good ? "ok    " : "FAULT ") + what + ", " + how + "\n" + result.text());
            return good;
        };
    }
}
