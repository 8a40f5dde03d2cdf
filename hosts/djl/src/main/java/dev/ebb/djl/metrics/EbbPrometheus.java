package dev.ebb.djl.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayList;
import java.util.List;

/** The figures for a registry of Prometheus's Java client, such as the default one, which DJL Serving shows. */
public final class EbbPrometheus implements MultiCollector {

    private EbbPrometheus() {}

    /** Registers with the default registry. */
    public static void register() {
        register(PrometheusRegistry.defaultRegistry);
    }

    public static void register(PrometheusRegistry registry) {
        registry.register(new EbbPrometheus());
    }

    @Override
    public MetricSnapshots collect() {
        List<MetricSnapshot> snapshots = new ArrayList<>();
        for (Figure figure : Figure.read()) {
            snapshots.add(figure.counter() ? counter(figure) : gauge(figure));
        }
        return new MetricSnapshots(snapshots);
    }

    private static MetricSnapshot counter(Figure figure) {
        CounterSnapshot.Builder builder = CounterSnapshot.builder().name(name(figure)).help(figure.help()).unit(unit(figure));
        for (Figure.Sample sample : figure.samples()) {
            builder.dataPoint(
                    CounterSnapshot.CounterDataPointSnapshot.builder().value(sample.value()).labels(labels(sample)).build());
        }
        return builder.build();
    }

    private static MetricSnapshot gauge(Figure figure) {
        GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(name(figure)).help(figure.help()).unit(unit(figure));
        for (Figure.Sample sample : figure.samples()) {
            builder.dataPoint(
                    GaugeSnapshot.GaugeDataPointSnapshot.builder().value(sample.value()).labels(labels(sample)).build());
        }
        return builder.build();
    }

    /** Its client takes no name that ends with {@code _created}. */
    private static String name(Figure figure) {
        return figure.name().replace("_created", "_made");
    }

    private static Labels labels(Figure.Sample sample) {
        Labels.Builder labels = Labels.builder();
        sample.labels().forEach(labels::label);
        return labels.build();
    }

    private static Unit unit(Figure figure) {
        return switch (figure.unit()) {
            case "bytes" -> Unit.BYTES;
            case "seconds" -> Unit.SECONDS;
            default -> null;
        };
    }
}
