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
        Devices.strict(Boolean.getBoolean("ebb.strict"));
        if (Boolean.getBoolean("ebb.trace")) {
            EbbRuntime.trace(true);
        }
        if (Boolean.getBoolean("ebb.reclaim")) {
            EbbRuntime.reclaim(true);
        }
        String report = System.getProperty("ebb.report");
        if (report != null && !report.equals("false")) {
            int top = report.matches("[0-9]{1,4}") ? Integer.parseInt(report) : 10;
            java.lang.Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> System.err.println(EbbRuntime.report(top, false)), "ebb-report"));
        }
    }
}
