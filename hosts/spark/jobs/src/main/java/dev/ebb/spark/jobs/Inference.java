package dev.ebb.spark.jobs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Scores partitions of made-up rows with a network that each executor holds. {@code name=value} arguments:
 *
 * <ul>
 *   <li>partitions, batches (of a partition), rows (of a batch)
 *   <li>care: CARELESS, CAREFUL or KEEPS
 *   <li>kill: the partition whose first task takes its executor with it
 *   <li>slow: the partition whose first task takes long, so that Spark may start a copy of it
 *   <li>shuffle: true if the scores go through a shuffle
 *   <li>repeat: how often the job runs; out: a file for what it found; stay: seconds to go on at the end
 * </ul>
 */
public final class Inference {

    private final Map<String, String> given = new HashMap<>();

    private Inference(String[] arguments) {
        for (String argument : arguments) {
            String[] parts = argument.split("=", 2);
            given.put(parts[0], parts[1]);
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Inference job = new Inference(arguments);
        try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("Inference"))) {
            job.run(spark);
        }
    }

    private int number(String name, int usual) {
        return Integer.parseInt(given.getOrDefault(name, Integer.toString(usual)));
    }

    private void run(JavaSparkContext spark) throws IOException, InterruptedException {
        List<Partition> found = List.of();
        List<Double> seconds = new ArrayList<>();
        for (int i = 0; i < number("repeat", 1); i++) {
            long start = System.nanoTime();
            found = score(spark);
            seconds.add((System.nanoTime() - start) / 1e9);
        }
        String json =
                "{\"seconds\": " + seconds + ", \"web\": \"" + spark.sc().uiWebUrl().getOrElse(() -> "") + "\", \"partitions\": ["
                        + found.stream().map(Partition::json).collect(Collectors.joining(",\n")) + "]}\n";
        if (given.containsKey("out")) {
            Path draft = Path.of(given.get("out") + ".part");
            Files.writeString(draft, json);
            Files.move(draft, Path.of(given.get("out")));
        } else {
            System.out.print(json);
        }
        Thread.sleep(1000L * number("stay", 0));
    }

    private List<Partition> score(JavaSparkContext spark) {
        Work work = new Work(number("batches", 20), number("rows", 512),
                Classifier.Care.valueOf(given.getOrDefault("care", "CARELESS")), number("kill", -1), number("slow", -1));
        int partitions = number("partitions", 16);
        List<Integer> seeds = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            seeds.add(i);
        }
        JavaRDD<Partition> scores = spark.parallelize(seeds, partitions).map(work::score);
        if (given.getOrDefault("shuffle", "false").equals("true")) {
            scores = scores.mapToPair(each -> new Tuple2<>(each.number(), each)).groupByKey(2).map(each -> each._2().iterator().next());
        }
        List<Partition> found = new ArrayList<>(scores.collect());
        found.sort(Comparator.comparingInt(Partition::number));
        return found;
    }

    /** What a task does with one seed. */
    private record Work(int batches, int rows, Classifier.Care care, int kill, int slow) implements java.io.Serializable {

        Partition score(int seed) throws InterruptedException {
            Classifier model = Classifier.get();
            boolean first = TaskContext.get().attemptNumber() == 0;
            double sum = 0;
            for (int i = 0; i < batches; i++) {
                sum += model.score(seed * batches + i, rows, care);
                if (seed == kill && first && i == batches / 2) {
                    Runtime.getRuntime().halt(137); // as if the machine had been lost
                }
            }
            if (care == Classifier.Care.KEEPS) {
                model.keep(seed);
            }
            if (seed == slow && first) {
                Thread.sleep(60_000);
            }
            return Partition.of(sum);
        }
    }
}
