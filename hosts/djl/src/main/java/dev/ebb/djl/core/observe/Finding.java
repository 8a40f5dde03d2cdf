package dev.ebb.djl.core.observe;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What the tool says of a recording at one moment. */
record Finding(
        boolean growing,
        boolean full,
        double rate,
        double level,
        double peak,
        double givenBack,
        double seconds,
        double events,
        List<Place> places) {

    private static final int MOST = 40;
    private static final String[] UNITS = {"B", "KB", "MB", "GB", "TB"};

    /** A place that grows: its site's text, innermost frame first. */
    record Place(String site, double rate, double arrays, double bytes) {
        String line() {
            return site.lines().findFirst().orElse("(place not known)");
        }
    }

    static Finding read(String file) throws IOException, InterruptedException {
        Map<?, ?> report = (Map<?, ?>) Json.read(Tool.run("report", "--json", "--top", Integer.toString(MOST), file));
        List<Place> places = new ArrayList<>();
        for (Object each : (List<?>) report.get("places")) {
            Map<?, ?> place = (Map<?, ?>) each;
            if (Boolean.TRUE.equals(place.get("growing"))) {
                places.add(
                        new Place(
                                String.join("\n", ((List<?>) place.get("frames")).stream().map(String::valueOf).toList()),
                                number(place, "growth_per_second"),
                                number(place, "live"),
                                number(place, "live_bytes")));
            }
        }
        return new Finding(
                Boolean.TRUE.equals(report.get("growing")),
                "full".equals(report.get("mode")),
                number(report, "growth_per_second"),
                number(report, "level"),
                number(report, "peak"),
                number(report, "reclaimed"),
                number(report, "seconds"),
                number(report, "events"),
                places);
    }

    private static double number(Map<?, ?> from, String name) {
        return from.get(name) instanceof Double value ? value : 0;
    }

    boolean tooShort() {
        return seconds < 1;
    }

    /** In a line, and one with its holder for each place that grows. */
    String text(Map<String, String> holders) {
        if (events == 0 && peak == 0) {
            return "no arrays were recorded\n";
        }
        String back = " (" + amount(givenBack) + " given back)";
        if (tooShort()) {
            return String.format(
                    Locale.ROOT, "%s at the end%s. Too short to tell growth: %.2f s%n", amount(level), back, seconds);
        }
        StringBuilder text = new StringBuilder(growing ? "growing " + rate(rate) + ", " + amount(level) + " now" : "flat at " + amount(level));
        text.append(back).append('\n');
        for (Place place : places) {
            text.append(String.format(Locale.ROOT, "  growing %s: %s, %,d arrays of %s%n", rate(place.rate), place.line(),
                    Math.round(place.arrays), amount(place.bytes)));
            text.append("    held by: ").append(holders.getOrDefault(place.site, "not looked for yet")).append('\n');
        }
        if (growing && places.isEmpty()) {
            text.append("  no place stands out: ")
                    .append(full ? "it grows at many, at each by little\n" : "record in mode full to see every one\n");
        }
        return text.toString();
    }

    private static String rate(double bytesPerSecond) {
        return "+" + amount(Math.max(0, bytesPerSecond)) + "/s";
    }

    static String amount(double bytes) {
        int unit = 0;
        double value = bytes;
        while (value >= 1024 && unit + 1 < UNITS.length) {
            value /= 1024;
            unit++;
        }
        String digits = unit == 0 || value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f";
        return String.format(Locale.ROOT, digits, value) + " " + UNITS[unit];
    }
}
