package dev.ebb.djl.bench;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Numbers of which the middle counts. */
final class Samples {
    private final List<Double> values = new ArrayList<>();

    void add(double value) {
        values.add(value);
    }

    double last() {
        return values.get(values.size() - 1);
    }

    double median() {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get(sorted.size() / 2);
    }

    double least() {
        return Collections.min(values);
    }

    /** To the third: the last of the first less the last of the second. */
    static void addDifference(Samples[] samples) {
        samples[2].add(samples[0].last() - samples[1].last());
    }

    /** The median of the ratios of numbers taken in turn. */
    static double medianRatio(Samples above, Samples below) {
        Samples ratios = new Samples();
        for (int i = 0; i < above.values.size(); i++) {
            ratios.add(above.values.get(i) / below.values.get(i));
        }
        return ratios.median();
    }
}
