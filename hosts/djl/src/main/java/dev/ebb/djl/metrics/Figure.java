package dev.ebb.djl.metrics;

import dev.ebb.djl.core.Control;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One of the figures for monitoring.
 *
 * @param name as Prometheus has it; counters get {@code _total}
 * @param otel as OpenTelemetry has it
 * @param counter only ever rises
 * @param unit {@code "bytes"}, {@code "seconds"} or {@code ""}
 */
record Figure(String name, String otel, boolean counter, String unit, String help, List<Sample> samples) {

    /** A value, with the labels that tell it from others of its figure. */
    record Sample(double value, Map<String, String> labels) {}

    /** As they are now; empty where Ebb does not work. */
    static List<Figure> read() {
        List<Figure> figures = new ArrayList<>();
        for (Map<String, Object> each : Control.current().metrics()) {
            List<Sample> samples = new ArrayList<>();
            for (Object sample : (List<?>) each.get("samples")) {
                Object[] pair = (Object[]) sample;
                Map<String, String> labels = new TreeMap<>();
                ((Map<?, ?>) pair[1]).forEach((name, value) -> labels.put((String) name, (String) value));
                samples.add(new Sample((Double) pair[0], labels));
            }
            figures.add(
                    new Figure(
                            (String) each.get("name"),
                            (String) each.get("otel"),
                            each.get("kind").equals("counter"),
                            (String) each.get("unit"),
                            (String) each.get("help"),
                            samples));
        }
        return figures;
    }

    /** The value under these labels; 0 if there is none any more. */
    static double value(String name, Map<String, String> labels) {
        for (Figure figure : read()) {
            for (Sample sample : figure.samples) {
                if (figure.name.equals(name) && sample.labels.equals(labels)) {
                    return sample.value;
                }
            }
        }
        return 0;
    }
}
