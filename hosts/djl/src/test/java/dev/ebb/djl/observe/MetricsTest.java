package dev.ebb.djl.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.metrics.EbbJmx;
import dev.ebb.djl.metrics.EbbMeterBinder;
import dev.ebb.djl.metrics.EbbOpenTelemetry;
import dev.ebb.djl.metrics.EbbPrometheus;
import dev.ebb.djl.support.Fork;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.Attribute;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same figures wherever they are asked for, by the real registries. */
class MetricsTest {
    private static final Pattern SAMPLE =
            Pattern.compile("([a-z_]+)(\\{(?:[a-z_]+=\"[^\"\\\\\\n]*\",?)+\\})? (-?[0-9.]+(?:E-?[0-9]+)?)");

    @TempDir Path folder;

    private static void make() {
        try (NDManager manager = NDManager.newBaseManager()) {
            manager.ones(new Shape(1000)).close();
            manager.ones(new Shape(1000));
        }
    }

    /** Values by name and labels; what OpenMetrics does not allow fails. */
    private static Map<String, Double> read(String text) {
        Map<String, Double> values = new HashMap<>();
        Set<String> types = new HashSet<>();
        String[] lines = text.split("\n");
        assertEquals("# EOF", lines[lines.length - 1]);
        assertTrue(text.endsWith("# EOF\n"));
        String family = "";
        for (String line : List.of(lines).subList(0, lines.length - 1)) {
            if (line.startsWith("# TYPE ")) {
                family = line.split(" ")[2];
                assertTrue(types.add(family), "twice: " + line);
            } else if (line.startsWith("#")) {
                assertTrue(line.matches("# (HELP|UNIT) " + family + " .+"), line);
            } else {
                Matcher sample = SAMPLE.matcher(line);
                assertTrue(sample.matches(), line);
                assertTrue(sample.group(1).startsWith(family), line);
                values.put(line.substring(0, line.lastIndexOf(' ')), Double.valueOf(sample.group(3)));
            }
        }
        return values;
    }

    @Test
    void openMetrics() {
        make();
        Memory before = Ebb.memory();
        Map<String, Double> values = read(Ebb.metrics());
        assertEquals((double) before.created(), values.get("ebb_tensors_created_total"));
        assertEquals((double) before.disposed(), values.get("ebb_tensors_ended_total{reason=\"disposed\"}"));
        assertEquals((double) before.regionEnded(), values.get("ebb_tensors_ended_total{reason=\"region\"}"));
        assertEquals((double) before.liveBytes(), values.get("ebb_device_memory_bytes{device=\"djl:cpu()\",state=\"in_use\"}"));
        assertTrue(values.get("ebb_device_budget_bytes{device=\"djl:cpu()\"}") > 0);
        assertEquals(1.0, values.get(values.keySet().stream().filter(name -> name.startsWith("ebb_info")).findFirst().get()));
    }

    @Test
    void prometheus() throws Exception {
        make();
        PrometheusRegistry registry = new PrometheusRegistry();
        EbbPrometheus.register(registry);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new OpenMetricsTextFormatWriter(false, true).write(out, registry.scrape());
        Map<String, Double> theirs = read(out.toString(StandardCharsets.UTF_8));
        Map<String, Double> ours = read(Ebb.metrics());
        ours.keySet().removeIf(name -> name.startsWith("ebb_info"));
        Set<String> names = new HashSet<>();
        ours.keySet().forEach(name -> names.add(name.replace("_created", "_made")));
        assertEquals(names, theirs.keySet());
        assertEquals(ours.get("ebb_tensors_created_total"), theirs.get("ebb_tensors_made_total"));
    }

    @Test
    void micrometer() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new EbbMeterBinder().bindTo(registry);
        make();
        assertEquals(
                (double) Ebb.memory().created(), registry.get("ebb.tensors.created").functionCounter().count());
        assertEquals(
                (double) Ebb.memory().reclaimed(),
                registry.get("ebb.tensors.ended").tag("reason", "reclaimed").functionCounter().count());
        assertEquals("bytes", registry.get("ebb.device.memory.limit").gauge().getId().getBaseUnit());
        assertTrue(registry.get("ebb.tensors.live").gauge().value() >= 0);
    }

    @Test
    void openTelemetry() throws Exception {
        InMemoryMetricReader reader = InMemoryMetricReader.create();
        try (SdkMeterProvider provider = SdkMeterProvider.builder().registerMetricReader(reader).build()) {
            AutoCloseable registered = EbbOpenTelemetry.register(provider.get("ebb"));
            make();
            Map<String, MetricData> byName = new HashMap<>();
            reader.collectAllMetrics().forEach(metric -> byName.put(metric.getName(), metric));
            assertEquals(
                    (double) Ebb.memory().created(),
                    byName.get("ebb.tensors.created").getDoubleSumData().getPoints().iterator().next().getValue());
            assertEquals("By", byName.get("ebb.device.memory.usage").getUnit());
            assertEquals(4, byName.get("ebb.tensors.ended").getDoubleSumData().getPoints().size());
            registered.close();
            Collection<MetricData> later = reader.collectAllMetrics();
            assertTrue(later.isEmpty(), later.toString());
        }
    }

    @Test
    void jmx() throws Exception {
        EbbJmx.register();
        EbbJmx.register();
        make();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("dev.ebb:type=Memory");
        assertEquals(Ebb.memory().created(), server.getAttribute(name, "Created"));
        assertEquals(true, server.getAttribute(name, "Reclaiming"));
        server.setAttribute(name, new Attribute("Tracing", true));
        server.setAttribute(name, new Attribute("Tracing", false));
        Object report = server.invoke(name, "report", new Object[] {3}, new String[] {"int"});
        assertTrue(((String) report).length() > 10);
        assertTrue(((String) server.invoke(name, "metrics", null, null)).endsWith("# EOF\n"));
    }

    @Test
    void flightRecorder() throws Exception {
        Path file = folder.resolve("a.jfr");
        try (jdk.jfr.Recording recording = new jdk.jfr.Recording()) {
            recording.start();
            make();
            Ebb.collect();
            Thread.sleep(1200);
            recording.stop();
            recording.dump(file);
        }
        boolean collected = false;
        long created = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            collected |= event.getEventType().getName().equals("dev.ebb.Collection") && event.getDuration().toNanos() > 0;
            if (event.getEventType().getName().equals("dev.ebb.Memory")) {
                created = event.getLong("created");
            }
        }
        assertTrue(collected);
        assertTrue(created > 0 && created <= Ebb.memory().created(), "created: " + created);
    }

    /** DJL Serving shows the default registry: its class on the class path is enough. */
    @Test
    @Tag("once")
    void djlServing() throws Exception {
        Path type = Files.createDirectories(folder.resolve("ai/djl/serving")).resolve("ModelServer.class");
        Files.write(type, new byte[] {1});
        String path = folder + java.io.File.pathSeparator + System.getProperty("java.class.path");
        Fork.Result result = Fork.reclaiming().classPath(path).run(Scraped.class);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("figures") > 10, result.text());
        assertEquals(0, Fork.reclaiming().run(Scraped.class).number("figures"));
    }

    /** How many of the default registry's metrics are Ebb's. */
    public static final class Scraped {
        private Scraped() {}

        public static void main(String[] arguments) {
            make();
            long found =
                    PrometheusRegistry.defaultRegistry.scrape().stream()
                            .filter(metric -> metric.getMetadata().getName().startsWith("ebb_"))
                            .count();
            System.out.println("figures=" + found);
        }
    }
}
