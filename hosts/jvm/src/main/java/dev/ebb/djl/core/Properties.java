package dev.ebb.djl.core;

/** What {@code -Debb.*} says. A wrong one is named, and the program goes on without it. */
final class Properties {

    private Properties() {}

    static void apply() {
        String budget = System.getProperty("ebb.budget");
        if (budget != null) {
            try {
                Devices.usualBudget(budget);
            } catch (IllegalArgumentException e) {
                Messages.say(e.getMessage() + "; -Debb.budget is ignored");
            }
        }
        Devices.strict(isOn("ebb.strict"));
        if (isOn("ebb.trace")) {
            EbbRuntime.trace(true);
        }
        if (isOn("ebb.reclaim")) {
            EbbRuntime.reclaim(true);
        }
        int top = sitesToReport();
        if (top > 0) {
            java.lang.Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> System.err.println(EbbRuntime.report(top, false)), "ebb-report"));
        }
    }

    private static boolean isOn(String name) {
        return isOn(name, "true, false");
    }

    private static boolean isOn(String name, String allowed) {
        String value = System.getProperty(name, "false");
        if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
            Messages.say("-D" + name + "=" + value + " is ignored; allowed: " + allowed);
        }
        return value.equalsIgnoreCase("true");
    }

    /** 0: none. */
    private static int sitesToReport() {
        String name = "ebb.report";
        String value = System.getProperty(name, "");
        if (value.matches("[0-9]{1,4}")) {
            return Integer.parseInt(value);
        }
        return isOn(name, "true, false, a number of sites") ? 10 : 0;
    }
}
