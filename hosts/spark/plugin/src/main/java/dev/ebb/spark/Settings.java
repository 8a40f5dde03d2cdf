package dev.ebb.spark;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;

/** What {@code spark.ebb.*} says. A wrong value is an error of the driver, before any executor starts. */
final class Settings {

    static final String PREFIX = "spark.ebb.";

    /** Every setting, with its default; null: none. */
    private static final Map<String, String> DEFAULTS = defaults();

    private static final long LONGEST_INTERVAL = 60;

    private static final Pattern SECONDS = Pattern.compile("(\\d{1,6})\\s*(s|min|m)?");

    private final Map<String, String> conf;

    /** By their full names; Spark's own among them. */
    Settings(Map<String, String> conf) {
        this.conf = conf;
    }

    static Settings of(SparkConf conf) {
        Map<String, String> all = new HashMap<>();
        for (var entry : conf.getAll()) {
            all.put(entry._1(), entry._2());
        }
        return new Settings(all);
    }

    private static Map<String, String> defaults() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("reclaim", "true");
        all.put("budget", null);
        all.put("budget.share", "0.75");
        all.put("budget.gpu", null);
        all.put("strict", "false");
        all.put("trace", "sample");
        all.put("malloc", "usual");
        all.put("leaks", "log");
        all.put("agent", null);
        all.put("required", "false");
        all.put("report.interval", "10s");
        all.put("report.top", "20");
        all.put("report.file", null);
        return all;
    }

    /** Throws an {@link IllegalArgumentException} that names the first setting that is wrong. */
    void check() {
        for (String full : new TreeSet<>(conf.keySet())) {
            String name = full.startsWith(PREFIX) ? full.substring(PREFIX.length()) : null;
            if (name != null && !DEFAULTS.containsKey(name)) {
                throw wrong(name, "no such setting; there are " + String.join(", ", DEFAULTS.keySet()));
            }
        }
        for (String name : Set.of("reclaim", "strict", "required")) {
            oneOf(name, "true", "false");
        }
        oneOf("trace", "true", "false", "sample");
        oneOf("malloc", "usual", "trim");
        oneOf("leaks", "ignore", "log", "fail");
        share();
        if (intervalSeconds() < 1 || intervalSeconds() > LONGEST_INTERVAL) {
            throw wrong("report.interval", "1s to " + LONGEST_INTERVAL + "s are allowed");
        }
        if (top() < 1) {
            throw wrong("report.top", "1 and more are allowed");
        }
        for (String name : Set.of("budget", "budget.gpu")) {
            if (text(name) != null) {
                bytes(name);
            }
        }
    }

    private void oneOf(String name, String... allowed) {
        if (!Set.of(allowed).contains(text(name))) {
            throw wrong(name, "allowed: " + String.join(", ", allowed));
        }
    }

    private IllegalArgumentException wrong(String name, String why) {
        return new IllegalArgumentException("[ebb] " + PREFIX + name + "=" + text(name) + ": " + why);
    }

    /** The value, or its default; null if it has neither. */
    String text(String name) {
        return conf.getOrDefault(PREFIX + name, DEFAULTS.get(name));
    }

    /** One of Spark's own; null if it is not set. */
    String spark(String name) {
        return conf.get("spark." + name);
    }

    int sparkNumber(String name, int usual) {
        return spark(name) == null ? usual : Integer.parseInt(spark(name));
    }

    boolean is(String name) {
        return Boolean.parseBoolean(text(name));
    }

    /** A size that the user has given: {@code 2GB}, {@code 512m}, {@code 1073741824}. */
    long bytes(String name) {
        try {
            long bytes = Sizes.parse(text(name));
            if (bytes > 0) {
                return bytes;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw wrong(name, "a size such as 2GB, 512m or 1048576 is allowed");
    }

    /** Of the memory overhead, what arrays may hold. */
    double share() {
        try {
            double share = Double.parseDouble(text("budget.share"));
            if (share > 0 && share <= 1) {
                return share;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw wrong("budget.share", "more than 0, at most 1");
    }

    long intervalSeconds() {
        Matcher parts = SECONDS.matcher(text("report.interval"));
        if (!parts.matches()) {
            throw wrong("report.interval", "a time such as 10s is allowed");
        }
        boolean minutes = parts.group(2) != null && parts.group(2).startsWith("m");
        return Long.parseLong(parts.group(1)) * (minutes ? 60 : 1);
    }

    int top() {
        try {
            return Integer.parseInt(text("report.top"));
        } catch (NumberFormatException e) {
            throw wrong("report.top", "a number");
        }
    }
}
