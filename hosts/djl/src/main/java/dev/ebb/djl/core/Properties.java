package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.observe.Explanation;
import dev.ebb.djl.core.observe.Recorder;
import dev.ebb.djl.core.pressure.Devices;
import dev.ebb.djl.metrics.EbbJmx;
import dev.ebb.djl.metrics.EbbPrometheus;
import java.util.ArrayList;
import java.util.List;

/** What {@code -Debb.*} and the agent's arguments say. A wrong one is named, and the program goes on without it. */
public final class Properties {

    private static final List<String> NAMES =
            List.of(
                    "budget", "strict", "trace", "reclaim", "report", "own", "malloc", "ownership", "record.file", "record.max",
                    "explain.after", "explain.why", "explain", "record", "jmx", "prometheus");
    private static final String SERVING = "ai/djl/serving/ModelServer.class"; // shows Prometheus's default registry
    private static final int USUAL_SITES = 10;
    private static int reported; // 0: no report was asked for so far

    private Properties() {}

    /**
     * Makes properties of the agent's arguments, {@code reclaim=true,budget=2GB}. Null: none.
     *
     * @return the names of those that were given
     */
    public static List<String> set(String arguments) {
        List<String> given = new ArrayList<>();
        for (String argument : (arguments == null ? "" : arguments).split(",")) {
            String[] parts = argument.trim().split("=", 2);
            if (parts.length == 2 && NAMES.contains(parts[0])) {
                System.setProperty("ebb." + parts[0], parts[1]);
                given.add(parts[0]);
            } else if (!argument.isBlank()) {
                Messages.say(
                        "the agent's argument '" + argument + "' is ignored; allowed: " + String.join("=, ", NAMES) + "=");
            }
        }
        return given;
    }

    static void apply() {
        if (ClassLoader.getSystemResource(SERVING) != null && System.getProperty("ebb.prometheus") == null) {
            System.setProperty("ebb.prometheus", "true");
        }
        apply(NAMES);
    }

    /** Those of these properties that have a value. */
    public static synchronized void apply(List<String> names) {
        for (String name : names) {
            String value = System.getProperty("ebb." + name);
            if (value != null) {
                apply(name, value);
            }
        }
    }

    private static void apply(String name, String value) {
        switch (name) {
            case "budget" -> budget(value);
            case "strict" -> Devices.strict(isOn(name, value));
            case "trace" -> EbbRuntime.CONTROL.trace(isOn(name, value));
            case "reclaim" -> EbbRuntime.CONTROL.reclaim(isOn(name, value));
            case "report" -> report(value);
            case "own" -> isOn(name, value); // Staging reads it
            case "ownership" -> ownership(name, value);
            case "record.file", "record.max" -> {} // read with record
            case "explain.after" -> explainAfter(name, value);
            case "explain.why" -> Explanation.why(is(name, value, "usual", "always", "never"));
            case "explain" -> Explanation.want(isOn(name, value));
            case "record" -> record(name, value);
            case "jmx" -> register(isOn(name, value), EbbJmx::register, name);
            case "prometheus" -> register(isOn(name, value), EbbPrometheus::register, name);
            default -> malloc(name, value);
        }
    }

    private static void budget(String value) {
        try {
            Devices.usualBudget(value);
        } catch (IllegalArgumentException e) {
            Messages.say(e.getMessage() + "; -Debb.budget is ignored");
        }
    }

    private static void report(String value) {
        int top = USUAL_SITES;
        if (value.matches("[0-9]{1,4}")) {
            top = Integer.parseInt(value);
        } else if (!is("report", value, "true", "false", "a number of sites").equals("true")) {
            top = 0;
        }
        if (reported == 0 && top > 0) {
            Thread last = new Thread(() -> System.err.println(EbbRuntime.CONTROL.report(reported, false)), "ebb-report");
            Runtime.getRuntime().addShutdownHook(last);
        }
        reported = top;
    }

    private static void ownership(String name, String value) {
        String rule = is(name, value, "first", "shortest");
        if (!rule.isEmpty()) {
            EbbRuntime.CONTROL.ownership(null, rule);
        }
    }

    private static void explainAfter(String name, String value) {
        if (value.matches("[0-9]{1,6}(\\.[0-9]{1,3})?")) {
            Explanation.firstLook(Double.parseDouble(value));
        } else {
            ignored(name, value, "seconds");
        }
    }

    private static void record(String name, String value) {
        String mode = is(name, value, "true", "false", "counters", "sampled", "full");
        if (mode.isEmpty() || mode.equals("false")) {
            return;
        }
        try {
            Recorder.start(
                    System.getProperty("ebb.record.file", "%n.ebbrec"),
                    mode.equals("true") ? "sampled" : mode,
                    System.getProperty("ebb.record.max"));
        } catch (EbbException | IllegalArgumentException e) {
            Messages.say("nothing is recorded: " + e.getMessage());
        }
    }

    private static void register(boolean wanted, Runnable registration, String name) {
        if (!wanted) {
            return;
        }
        try {
            registration.run();
        } catch (LinkageError | RuntimeException e) {
            Messages.say("-Debb." + name + " is ignored: " + e);
        }
    }

    private static void malloc(String name, String value) {
        if (is(name, value, "usual", "trim").equals("trim") && !Native.trimMalloc()) {
            Messages.say("-Debb.malloc=trim is ignored: it needs glibc");
        }
    }

    private static boolean isOn(String name, String value) {
        return is(name, value, "true", "false").equals("true");
    }

    /** The one of the allowed values that this is; "" and a word about it if it is none. */
    private static String is(String name, String value, String... allowed) {
        for (String each : allowed) {
            if (value.equalsIgnoreCase(each)) {
                return each;
            }
        }
        ignored(name, value, allowed);
        return "";
    }

    private static void ignored(String name, String value, String... allowed) {
        Messages.say("-Debb." + name + "=" + value + " is ignored; allowed: " + String.join(", ", allowed));
    }
}
