package dev.ebb.djl.bench;

import dev.ebb.djl.collectors.BoundedLoop;
import dev.ebb.djl.mnist.MnistTraining;
import dev.ebb.djl.support.Fork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Every figure that reclaim on the JVM has to reach; writes them to the file named first. Property
 * {@code ebb.classpath.seed} is the class path with DJL 0.20.0.
 *
 * <pre>Figures FILE [PART]</pre>
 */
public final class Figures {
    private static final int MILLION = 1 << 20;
    private static final int BUDGET_MB = 256;
    private static final int IMAGES = Integer.getInteger("ebb.bench.images", 60_000);
    private static final int EPOCHS = 10;
    private static final String[] TOUCHED_HEAP = {"-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch"};
    private static final Pattern EPOCH =
            Pattern.compile("\"processor\": ([0-9.]+).*?\"arrays\": (\\d+), \"resident\": (\\d+)");
    private static final int STARTS = 7;
    private static final double QUARTER = 0.245; // to two places
    private static final double REACHABLE_MB = 204; // 200 held, the last result in hand, the next one being made
    private static final int ROUNDS = Integer.getInteger("ebb.bench.rounds", 3);

    private final List<String> rows = new ArrayList<>();
    private final String wanted;
    private int missed;

    private Figures(String wanted) {
        this.wanted = wanted;
    }

    public static void main(String[] arguments) throws Exception {
        Figures figures = new Figures(arguments.length > 1 ? arguments[1] : "");
        figures.measure();
        Path file = Path.of(arguments[0]);
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, "[\n  " + String.join(",\n  ", figures.rows) + "\n]\n");
        System.out.printf("%d figures, %d missed%n", figures.rows.size(), figures.missed);
    }

    private interface Part {
        void run() throws Exception;
    }

    private void part(String name, Part part) throws Exception {
        if (name.contains(wanted)) {
            part.run();
        }
    }

    private void measure() throws Exception {
        part("step", () -> ratio("JVM: MNIST step, batch 32, reclaim on / off (us)", 1.05, "step", 120));
        part("add", () -> ratio("JVM: add of 1 element, closed, reclaim on / off (us)", 1.25, "add", 200));
        part("recorded", this::recorded);
        part("why", this::why);
        part("watch", this::watching);
        part("careful", this::carefulCode);
        part("gradients", this::gradients);
        part("small", this::smallLoop);
        part("large", this::largeLoop);
        part("start", this::start);
        part("below", this::budgetBelowTheLiveSet);
        part("threads", this::manyThreads);
        part("malloc", this::keptResults);
        part("careless", this::carelessLoop);
        part("seed", this::seedsExample);
    }

    private void ratio(String figure, double goal, Object... work) throws Exception {
        Fork.Result result = run(Fork.withAgent(), work);
        row(figure, result.number("on"), result.number("off"), result.number("ratio"), goal);
    }

    /** This thread's time; the recording's own threads are not in it. */
    private void recorded() throws Exception {
        ratio("JVM: add of 1 element, closed, recorded sampled / not (us)", 1.05, "recorded-add", "sampled", 40);
        ratio("JVM: MNIST step, batch 32, recorded sampled / not (us)", 1.01, "recorded-step", "sampled", 100);
        ratio("JVM: add of 1 element, closed, recorded full / not (us)", 2.5, "recorded-add", "full", 40);
        ratio("JVM: MNIST step, batch 32, recorded full / not (us)", 1.1, "recorded-step", "full", 40);
    }

    private void why() throws Exception {
        for (String of : List.of("records", "nodes", "numbers")) {
            double seconds = run(Fork.reclaiming().flag("-Xmx900m"), "why", 500, of).number("seconds");
            row("JVM: why, heap of 500 MB of " + of + " (s)", seconds, null, seconds, 10.0);
        }
    }

    private void watching() throws Exception {
        Samples dropped = new Samples();
        Samples closed = new Samples();
        Samples late = new Samples();
        Samples extra = new Samples();
        Samples beyondLate = new Samples();
        for (int i = 0; i < ROUNDS; i++) {
            Fork.Result ours = run(Fork.reclaiming(), "drop");
            dropped.add(ours.number("us"));
            closed.add(run(Fork.stock(), "close").number("us"));
            late.add(run(Fork.stock(), "late", (long) ours.number("between")).number("us"));
            extra.add(dropped.last() - closed.last());
            beyondLate.add(dropped.last() - late.last());
        }
        row("JVM: watching one array: dropped - closed by hand a collection later without Ebb (us)", dropped.median(),
                late.median(), beyondLate.median(), 0.8);
        row("JVM: the same: dropped - closed by hand at once without Ebb (us)", dropped.median(), closed.median(),
                extra.median(), 0.5);
        double unwatched = run(Fork.withAgent(), "close").number("us");
        row("JVM: the same: closed at once under the agent, reclaim off - without Ebb (us)", unwatched, closed.median(),
                unwatched - closed.median(), null);
        double watched = run(Fork.reclaiming(), "heap").number("bytes");
        double stock = run(Fork.stock(), "heap").number("bytes");
        row("JVM: heap behind one array, watched - not (bytes)", watched, stock, watched - stock, 200.0);
    }

    /** What a program pays that closes everything itself. */
    private void carefulCode() throws Exception {
        for (String reclaim : List.of("off", "on")) {
            careful("JVM: add of 1 element and close, reclaim " + reclaim + " - without Ebb (us)", reclaim, "close", 1);
            careful("JVM: a sub-manager with 3 arrays, reclaim " + reclaim + " - without Ebb (us)", reclaim, "scope", 4);
        }
    }

    private void careful(String figure, String reclaim, String work, int births) throws Exception {
        Samples ours = new Samples();
        Samples stock = new Samples();
        Samples extra = new Samples();
        for (int i = 0; i < ROUNDS; i++) {
            Fork fork = reclaim.equals("on") ? Fork.reclaiming() : Fork.withAgent();
            ours.add(births * run(fork, work).number("us"));
            stock.add(births * run(Fork.stock(), work).number("us"));
            extra.add(ours.last() - stock.last());
        }
        row(figure, ours.median(), stock.median(), extra.median(), work.equals("close") ? 0.05 : null);
    }

    /** By default also with a heap that grows: then G1 hands out pages that nobody has touched, after its full collections. */
    private void gradients() throws Exception {
        Fork.Result ours = run(Fork.reclaiming(), "gradients", 9);
        Fork.Result touched = run(Fork.reclaiming().flag(TOUCHED_HEAP), "gradients", 9);
        Fork.Result stock = run(Fork.stock(), "gradients", 1);
        Fork.Result byHand = run(Fork.stock(), "gradients-closed", 9);
        row("JVM: step with zeroGradients() after 100,000 dropped / fresh (ms)", ours.number("later"),
                ours.number("fresh"), ours.number("ratio"), 1.05);
        row("JVM: the same, the JVM's heap of one size and touched (ms)", touched.number("later"),
                touched.number("fresh"), touched.number("ratio"), 1.05);
        row("JVM: the same without Ebb (ms)", stock.number("later"), stock.number("fresh"), stock.number("ratio"), null);
        row("JVM: the same without Ebb, 100,000 closed by hand (ms)", byHand.number("later"), byHand.number("fresh"),
                byHand.number("ratio"), null);
    }

    private void smallLoop() throws Exception {
        Fork.Result closed = loop(Fork.withAgent(), 1_000_000, 1000, "close");
        Fork.Result ours = loop(Fork.reclaiming(), 1_000_000, 1000, "drop");
        double above = ours.number("peak") - closed.number("peak");
        row("JVM: 1,000,000 x mul.add of 1,000 floats: peak above closing by hand (MB)", ours.number("peak"),
                closed.number("peak"), above, 100.0);
        Samples times = new Samples();
        Samples off = new Samples();
        for (int i = 0; i < ROUNDS; i++) {
            times.add(loop(Fork.reclaiming(), 200_000, 1000, "drop").number("seconds"));
            off.add(loop(Fork.withAgent(), 200_000, 1000, "drop").number("seconds"));
        }
        row("JVM: the first 200,000 of them, reclaim on / off (s)", times.median(), off.median(),
                Samples.medianRatio(times, off), 0.75);
    }

    private void largeLoop() throws Exception {
        Fork budget = Fork.reclaiming().flag("-Debb.budget=" + BUDGET_MB + "MB");
        Fork.Result ours = loop(budget, 5000, MILLION, "drop");
        Fork.Result off = loop(Fork.withAgent(), 400, MILLION, "drop");
        row("JVM: 5,000 x mul.add of 1M floats, budget 256 MB: peak above start / budget (off: 400 of them)",
                ours.number("growth"), off.number("growth"), ours.number("growth") / BUDGET_MB, 1.25);
    }

    private static Fork.Result loop(Fork fork, int iterations, int length, String how) throws Exception {
        return checked(fork.seconds(600).run(BoundedLoop.class, iterations, length, how));
    }

    /** Of a program that makes a few arrays, on the wall's clock from its start to its end. */
    private void start() throws Exception {
        Samples[] seconds = {new Samples(), new Samples(), new Samples()};
        Samples[] resident = {new Samples(), new Samples(), new Samples()};
        for (int i = 0; i < STARTS; i++) {
            seconds(Fork.withAgent(), seconds[0], resident[0]);
            seconds(Fork.stock(), seconds[1], resident[1]);
            Samples.addDifference(seconds);
            Samples.addDifference(resident);
        }
        row("JVM: a program with a few arrays, agent - without Ebb (s)", seconds[0].median(), seconds[1].median(),
                seconds[2].median(), 0.4);
        row("JVM: the same, most resident (MB)", resident[0].median(), resident[1].median(), resident[2].median(), 25.0);
    }

    private static void seconds(Fork fork, Samples seconds, Samples resident) throws Exception {
        long start = System.nanoTime();
        Fork.Result result = checked(fork.run(Residents.class, "few"));
        seconds.add((System.nanoTime() - start) / 1e9);
        resident.add(result.number("resident"));
    }

    /**
     * A budget that is kept; and budgets below what is held, where arrays have 1.5 x of that unless collecting takes its quarter
     * of the time and the warning says what then happens. The JVM's own growth is in what is resident.
     */
    private void budgetBelowTheLiveSet() throws Exception {
        double ample = held(2000).number("resident");
        for (int budget : List.of(220, 190, 100)) {
            Fork.Result result = held(budget);
            String figure = "JVM: 200 MB held, 2,000 x 2 MB dropped, budget " + budget + " MB: ";
            double peak = result.number("peak");
            boolean yielded = result.number("share") >= QUARTER && result.text().contains("beyond that memory grows");
            row(figure + "most that arrays have / what is reachable (MB)" + (yielded ? ", a quarter of the time used up" : ""), peak,
                    REACHABLE_MB, peak / REACHABLE_MB, yielded ? null : 1.5);
            row(figure + "share of the time for collecting", result.number("share"), null, result.number("share"),
                    budget < REACHABLE_MB ? 0.3 : null);
            row(figure + "resident, to that of 2,000 MB (MB)", result.number("resident"), ample,
                    result.number("resident") / ample, 1.0);
        }
    }

    private static Fork.Result held(int budget) throws Exception {
        return checked(Fork.reclaiming().flag("-Debb.budget=" + budget + "MB").run(Residents.class, "held"));
    }

    private void manyThreads() throws Exception {
        for (int threads : List.of(1, 8, 16)) {
            double peak = checked(Fork.reclaiming().flag("-Debb.budget=256000000")
                    .run("dev.ebb.djl.budget.BudgetTest$ManyThreads", threads)).number("peak") / 1e6;
            row("JVM: " + threads + " threads that drop, arrays of 1/400 of the budget: peak / budget (MB)", peak, 256.0,
                    peak / 256, 1.05);
        }
    }

    private void keptResults() throws Exception {
        double stock = checked(Fork.stock().run(Residents.class, "kept")).number("growth");
        for (String malloc : List.of("", "trim")) {
            Fork fork = malloc.isEmpty() ? Fork.reclaiming() : Fork.reclaiming().flag("-Debb.malloc=" + malloc);
            double growth = checked(fork.run(Residents.class, "kept")).number("growth");
            row("JVM: 300 results of 20 KB kept, " + (malloc.isEmpty() ? "agent" : "ebb.malloc=trim") + ": resident more (MB)",
                    growth, stock, growth / stock, null);
        }
    }

    private void carelessLoop() throws Exception {
        flat("JVM: DJL 0.35.1 careless MNIST", epochs(Fork.reclaiming(), "careless", EPOCHS));
    }

    /** The seed's own trouble is stock DJL's: under the agent walks pass over the dead, whether or not they come back. */
    private void seedsExample() throws Exception {
        List<Epoch> on = epochs(seed(Fork.reclaiming()), "wellwritten", EPOCHS);
        flat("JVM: DJL 0.20.0 MNIST", on);
        double stock = fifth(epochs(seed(Fork.stock()), "wellwritten", 5));
        double off = fifth(epochs(seed(Fork.withAgent()), "wellwritten", 5));
        row("JVM: DJL 0.20.0 MNIST, epoch 5, reclaim on / without Ebb (s)", fifth(on), stock, fifth(on) / stock, 0.10);
        row("JVM: DJL 0.20.0 MNIST, epoch 5, agent and reclaim off / without Ebb (s)", off, stock, off / stock, 0.20);
    }

    private static double fifth(List<Epoch> epochs) {
        return epochs.get(4).seconds;
    }

    /** The last epoch takes what the third to fifth took, and neither arrays nor memory have become more. */
    private void flat(String what, List<Epoch> on) {
        Epoch last = on.get(EPOCHS - 1);
        Samples seconds = new Samples();
        Samples arrays = new Samples();
        Samples resident = new Samples();
        for (Epoch each : on.subList(2, 5)) {
            seconds.add(each.seconds);
            arrays.add(each.arrays);
            resident.add(each.residentMb);
        }
        row(what + ", epoch 10 / median of epochs 3 to 5, reclaim on (s)", last.seconds, seconds.median(),
                last.seconds / seconds.median(), 1.15);
        row(what + ": arrays after epoch 10, after 3 to 5", last.arrays, arrays.median(),
                last.arrays / arrays.median(), null);
        row(what + ": resident after epoch 10, after 3 to 5 (MB)", last.residentMb, resident.median(),
                last.residentMb / resident.median(), null);
    }

    private static Fork seed(Fork fork) {
        return fork.classPath(System.getProperty("ebb.classpath.seed"));
    }

    private record Epoch(double seconds, double arrays, double residentMb) {}

    private static List<Epoch> epochs(Fork fork, String how, int count) throws Exception {
        Fork.Result result = checked(fork.seconds(900).run(MnistTraining.class, how, count, IMAGES));
        System.out.println(result.text());
        List<Epoch> epochs = new ArrayList<>();
        Matcher matcher = EPOCH.matcher(result.text());
        while (matcher.find()) {
            epochs.add(new Epoch(Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2)),
                    Double.parseDouble(matcher.group(3)) / MILLION));
        }
        return epochs;
    }

    private static Fork.Result run(Fork fork, Object... arguments) throws Exception {
        return checked(fork.seconds(600).run(Work.class, arguments));
    }

    private static Fork.Result checked(Fork.Result result) throws IOException {
        if (result.status() != 0) {
            throw new IOException(result.text());
        }
        return result;
    }

    private void row(String figure, double ours, Double peer, double ratio, Double goal) {
        boolean reached = goal == null || ratio <= goal;
        missed += reached ? 0 : 1;
        String text = String.format(Locale.ROOT,
                "{\"figure\": \"%s\", \"ours\": %.4g, \"peer\": %s, \"ratio\": %.4g, \"goal\": %s, \"reached\": %s}",
                figure, ours, peer == null ? "null" : String.format(Locale.ROOT, "%.4g", peer), ratio,
                goal == null ? "null" : "\"<= " + goal + "\"", reached);
        rows.add(text);
        System.out.printf(Locale.ROOT, "%s %s: %.4g against %s, ratio %.4g (goal %s)%n", reached ? "ok  " : "MISS",
                figure, ours, peer == null ? "-" : String.format(Locale.ROOT, "%.4g", peer), ratio, goal);
    }
}
