package dev.ebb.djl.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The figures for Micrometer: {@code new EbbMeterBinder().bindTo(registry)}; Spring Boot binds it if it is a bean. Devices that
 * are used later appear once their figures have been read.
 */
public final class EbbMeterBinder implements MeterBinder {

    private final Set<String> bound = ConcurrentHashMap.newKeySet();

    @Override
    public void bindTo(MeterRegistry registry) {
        for (Figure figure : Figure.read()) {
            for (Figure.Sample sample : figure.samples()) {
                bind(registry, figure, sample);
            }
        }
    }

    private void bind(MeterRegistry registry, Figure figure, Figure.Sample sample) {
        Map<String, String> labels = sample.labels();
        if (!bound.add(System.identityHashCode(registry) + figure.name() + labels)) {
            return;
        }
        List<Tag> tags = labels.entrySet().stream().map(label -> Tag.of(label.getKey(), label.getValue())).toList();
        String name = figure.otel();
        if (figure.counter()) {
            FunctionCounter.builder(name, this, binder -> Figure.value(figure.name(), labels))
                    .tags(tags)
                    .description(figure.help())
                    .baseUnit(unit(figure))
                    .register(registry);
        } else {
            boolean first = figure.name().equals("ebb_tensors_live");
            Gauge.builder(name, this, binder -> binder.gauge(first ? registry : null, figure.name(), labels))
                    .tags(tags)
                    .description(figure.help())
                    .baseUnit(unit(figure))
                    .register(registry);
        }
    }

    private double gauge(MeterRegistry renewed, String name, Map<String, String> labels) {
        if (renewed != null) {
            bindTo(renewed);
        }
        return Figure.value(name, labels);
    }

    private static String unit(Figure figure) {
        return figure.unit().isEmpty() ? null : figure.unit();
    }
}
