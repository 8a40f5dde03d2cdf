package dev.ebb.djl.core.books;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Results whose first operand's manager lives longer than another operand's, by the line that made them. */
public final class Escapes {

    /** The line, the two managers' labels, and whether the result went to the shorter-lived one. */
    private record Place(int site, String from, String to, boolean kept) {}

    private record Sum(long arrays, long bytes) {
        Sum plus(Sum more) {
            return new Sum(arrays + more.arrays, bytes + more.bytes);
        }
    }

    private static final ConcurrentHashMap<Place, Sum> SUMS = new ConcurrentHashMap<>();

    private Escapes() {}

    public static void count(String from, String to, long bytes, boolean kept) {
        SUMS.merge(new Place(Sites.here(), from, to, kept), new Sum(1, bytes), Sum::plus);
    }

    /** A report with them at its end: a section of the text, or {@code "escapes"} of the JSON. */
    public static String addTo(String report, int top, boolean json) {
        List<Map.Entry<Place, Sum>> most =
                SUMS.entrySet().stream()
                        .sorted(Comparator.comparingLong((Map.Entry<Place, Sum> each) -> each.getValue().bytes).reversed())
                        .limit(top)
                        .toList();
        if (json) {
            String list = most.stream().map(Escapes::json).collect(Collectors.joining(","));
            return report.substring(0, report.lastIndexOf('}')) + ",\"escapes\":[" + list + "]}";
        }
        return most.isEmpty()
                ? report
                : report.stripTrailing()
                        + "\n\nResults of operands whose managers end at different times:\n"
                        + most.stream().map(Escapes::text).collect(Collectors.joining());
    }

    private static String text(Map.Entry<Place, Sum> entry) {
        Place place = entry.getKey();
        String line = Sites.textOf(place.site);
        return String.format(
                "  %d arrays, %d bytes, %s \"%s\" %s \"%s\", made at %s%n",
                entry.getValue().arrays,
                entry.getValue().bytes,
                place.kept ? "kept from" : "escaped to",
                place.from,
                place.kept ? "in" : "past",
                place.to,
                line.isEmpty() ? "an unknown site" : line.lines().findFirst().get());
    }

    private static String json(Map.Entry<Place, Sum> entry) {
        Place place = entry.getKey();
        return String.format(
                "{\"text\":%s,\"longer\":%s,\"shorter\":%s,\"kept\":%b,\"tensors\":%d,\"bytes\":%d}",
                quoted(Sites.textOf(place.site)),
                quoted(place.from),
                quoted(place.to),
                place.kept,
                entry.getValue().arrays,
                entry.getValue().bytes);
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                quoted.append('\\').append(each);
            } else if (each < ' ') {
                quoted.append(String.format("\\u%04x", (int) each));
            } else {
                quoted.append(each);
            }
        }
        return quoted.append('"').toString();
    }
}
