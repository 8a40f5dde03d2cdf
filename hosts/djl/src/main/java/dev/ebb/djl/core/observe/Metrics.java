package dev.ebb.djl.core.observe;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.pressure.Devices;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The figures for monitoring, as ebb-tfjs has them: OpenMetrics, OpenTelemetry, Micrometer and Prometheus get the same. Places
 * are never labels: there is no bound to them.
 */
public final class Metrics {

    private static final double NANO = 1e-9;
    private static final String[] REASONS = {"disposed", "region", "reclaimed", "shutdown"};
    private static final String[] ENDED = {"disposed", "regionEnded", "reclaimed", "shutdown"};

    private final Map<String, Long> books;
    private final Map<String, long[]> devices = new HashMap<>(); // in use, committed, the most, budget
    private final List<Map<String, Object>> figures = new ArrayList<>();

    private Metrics() {
        books = Books.read();
        Devices.all().forEach((name, id) -> devices.put("djl:" + name, Native.deviceDescribe(id)));
    }

    /** Each with name, otel, kind, unit ("": none), help, and samples: pairs of a value and its labels. */
    public static List<Map<String, Object>> read() {
        Metrics metrics = new Metrics();
        metrics.ofDevices();
        metrics.ofArrays();
        metrics.ofCollections();
        return metrics.figures;
    }

    private void ofDevices() {
        List<Object> inUse = new ArrayList<>();
        devices.forEach((name, values) -> inUse.add(sample(values[0], "device", name, "state", "in_use")));
        add("ebb_device_memory_bytes", "ebb.device.memory.usage", "gauge", "Memory of live arrays.", inUse);
        device("ebb_device_committed_bytes", "ebb.device.memory.committed", "Memory that a device has taken from the system.", 1);
        device("ebb_device_committed_peak_bytes", "ebb.device.memory.committed.peak", "The most that it ever had.", 2);
        device("ebb_device_budget_bytes", "ebb.device.memory.limit", "What arrays on a device may hold; 0: no limit.", 3);
    }

    private void device(String name, String otel, String help, int column) {
        List<Object> samples = new ArrayList<>();
        devices.forEach((device, values) -> samples.add(sample(values[column], "device", device)));
        add(name, otel, "gauge", help, samples);
    }

    private void ofArrays() {
        count("ebb_tensors_created", "ebb.tensors.created", "counter", "Arrays that were made.", "created");
        byReason("ebb_tensors_ended", "ebb.tensors.ended", "Arrays that ended: closed, with their manager, given back.", "");
        count("ebb_tensors_live", "ebb.tensors.live", "gauge", "Arrays that are there.", "live");
        count("ebb_tensors_live_peak", "ebb.tensors.live.peak", "gauge", "The most that there were at once.", "peakLive");
        count("ebb_tensors_orphaned", "ebb.tensors.orphaned", "gauge", "Arrays that nobody can reach and that wait to be given back.", "orphans");
        count("ebb_tensors_orphaned_peak", "ebb.tensors.orphaned.peak", "gauge", "The most of them at once.", "peakOrphans");
        count("ebb_tensors_created_bytes", "ebb.tensors.created.size", "counter", "Bytes of the data that was made.", "createdBytes");
        byReason("ebb_tensors_ended_bytes", "ebb.tensors.ended.size", "Bytes of the data that ended.", "Bytes");
        count("ebb_tensors_live_bytes", "ebb.tensors.live.size", "gauge", "Bytes of the data that is there.", "liveBytes");
        count("ebb_tensors_live_peak_bytes", "ebb.tensors.live.peak.size", "gauge", "The most that there was at once.", "peakLiveBytes");
        count("ebb_regions_open", "ebb.regions.open", "gauge", "Regions of the core that are open.", "regions");
        count("ebb_managers_open", "ebb.managers.open", "gauge", "Managers of the program's that are open.", "managers");
    }

    private void ofCollections() {
        add("ebb_collections", "ebb.collections", "counter", "Collections of the host's that Ebb asked for.",
                one(sample(books.get("collections"), "kind", "major")));
        nanos("ebb_collection_seconds", "ebb.collection.time", "counter", "What they took.", "collectNanos");
        nanos("ebb_collection_longest_seconds", "ebb.collection.longest", "gauge", "What the longest of them took.", "longestCollectNanos");
        nanos("ebb_reclaim_lag_seconds", "ebb.reclaim.lag", "gauge",
                "How long the oldest of the dead waited to be given back, the last time.", "lagNanos");
        nanos("ebb_reclaim_lag_longest_seconds", "ebb.reclaim.lag.longest", "gauge", "The longest that one waited.", "longestLagNanos");
    }

    private void count(String name, String otel, String kind, String help, String column) {
        add(name, otel, kind, help, one(sample(books.get(column))));
    }

    private void nanos(String name, String otel, String kind, String help, String column) {
        add(name, otel, kind, help, one(sample(books.get(column) * NANO)));
    }

    private void byReason(String name, String otel, String help, String suffix) {
        List<Object> samples = new ArrayList<>();
        for (int i = 0; i < REASONS.length; i++) {
            samples.add(sample(books.get(ENDED[i] + suffix), "reason", REASONS[i]));
        }
        add(name, otel, "counter", help, samples);
    }

    /** Not {@code List.of}, which would take the pair for two. */
    private static List<Object> one(Object[] sample) {
        List<Object> list = new ArrayList<>();
        list.add(sample);
        return list;
    }

    private static Object[] sample(double value, String... labels) {
        Map<String, String> named = new HashMap<>();
        for (int i = 0; i < labels.length; i += 2) {
            named.put(labels[i], labels[i + 1]);
        }
        return new Object[] {value, named};
    }

    private void add(String name, String otel, String kind, String help, List<Object> samples) {
        String unit = name.endsWith("_bytes") ? "bytes" : name.endsWith("_seconds") ? "seconds" : "";
        figures.add(Map.of("name", name, "otel", otel, "kind", kind, "unit", unit, "help", help, "samples", samples));
    }
}
