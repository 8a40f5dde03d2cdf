package dev.ebb.djl.metrics;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableMeasurement;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The figures for OpenTelemetry. */
public final class EbbOpenTelemetry {

    private static final String SUMS_UP = "ebb.device.memory.usage"; // over its labels

    private EbbOpenTelemetry() {}

    /** Gives them to a meter until what it returns is closed. */
    public static AutoCloseable register(Meter meter) {
        Map<String, ObservableDoubleMeasurement> instruments = new HashMap<>();
        for (Figure figure : Figure.read()) {
            instruments.put(figure.name(), instrument(meter, figure));
        }
        List<ObservableDoubleMeasurement> all = List.copyOf(instruments.values());
        ObservableMeasurement[] others = all.subList(1, all.size()).toArray(ObservableMeasurement[]::new);
        return meter.batchCallback(() -> observe(instruments), all.get(0), others);
    }

    private static ObservableDoubleMeasurement instrument(Meter meter, Figure figure) {
        String unit = figure.unit().equals("bytes") ? "By" : figure.unit().equals("seconds") ? "s" : "1";
        if (figure.counter()) {
            return meter.counterBuilder(figure.otel()).ofDoubles().setUnit(unit).setDescription(figure.help()).buildObserver();
        }
        if (figure.otel().equals(SUMS_UP)) {
            return meter.upDownCounterBuilder(figure.otel()).ofDoubles().setUnit(unit).setDescription(figure.help()).buildObserver();
        }
        return meter.gaugeBuilder(figure.otel()).setUnit(unit).setDescription(figure.help()).buildObserver();
    }

    private static void observe(Map<String, ObservableDoubleMeasurement> instruments) {
        for (Figure figure : Figure.read()) {
            for (Figure.Sample sample : figure.samples()) {
                AttributesBuilder attributes = Attributes.builder();
                sample.labels().forEach(attributes::put);
                instruments.get(figure.name()).record(sample.value(), attributes.build());
            }
        }
    }
}
