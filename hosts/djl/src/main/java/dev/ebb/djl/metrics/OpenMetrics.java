package dev.ebb.djl.metrics;

import java.util.stream.Collectors;

/** The figures as text that Prometheus and others read. */
public final class OpenMetrics {

    /** The content type of {@link #text}. */
    public static final String TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    private OpenMetrics() {}

    public static String text() {
        StringBuilder text = new StringBuilder();
        for (Figure figure : Figure.read()) {
            String suffix = figure.counter() ? "_total" : "";
            line(text, "# TYPE " + figure.name() + (figure.counter() ? " counter" : " gauge"));
            if (!figure.unit().isEmpty()) {
                line(text, "# UNIT " + figure.name() + " " + figure.unit());
            }
            line(text, "# HELP " + figure.name() + " " + escaped(figure.help()));
            for (Figure.Sample sample : figure.samples()) {
                line(text, figure.name() + suffix + labels(sample) + " " + number(sample.value()));
            }
        }
        line(text, "# TYPE ebb info");
        line(text, "# HELP ebb What runs.");
        String version = OpenMetrics.class.getPackage().getImplementationVersion();
        line(text, "ebb_info{host=\"jvm\",version=\"" + (version == null ? "unknown" : escaped(version)) + "\"} 1");
        line(text, "# EOF");
        return text.toString();
    }

    private static String labels(Figure.Sample sample) {
        if (sample.labels().isEmpty()) {
            return "";
        }
        return sample.labels().entrySet().stream()
                .map(label -> label.getKey() + "=\"" + escaped(label.getValue()) + "\"")
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15 ? Long.toString((long) value) : Double.toString(value);
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    private static void line(StringBuilder text, String line) {
        text.append(line).append('\n');
    }
}
