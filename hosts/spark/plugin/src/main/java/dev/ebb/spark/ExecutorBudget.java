package dev.ebb.spark;

import java.util.Map;
import org.apache.spark.resource.ResourceInformation;

/** This executor's budget, which its task slots share. The driver may learn of the resource profile a little later. */
final class ExecutorBudget {

    private final EbbAgent agent;
    private final Settings settings;
    private volatile long bytes;
    private volatile int slots = 1;

    ExecutorBudget(EbbAgent agent, Settings settings, Map<String, ResourceInformation> resources) {
        this.agent = agent;
        this.settings = settings;
        ResourceInformation gpus = resources.get("gpu");
        if (gpus != null && settings.text("budget.gpu") != null) {
            for (String address : gpus.addresses()) {
                agent.budget("gpu(" + address + ")", Long.toString(settings.bytes("budget.gpu")));
            }
        }
    }

    /** By what the driver has answered. */
    synchronized void apply(Map<?, ?> answer) {
        long profiled = answer.get("overhead") instanceof Long overhead ? overhead : 0;
        int cores = answer.get("cores") instanceof Integer known ? known : 0;
        slots = Budget.slots(settings, cores);
        long now = Budget.of(settings, profiled);
        if (now != bytes) {
            bytes = now;
            agent.budget("cpu()", Long.toString(now));
        }
    }

    long bytes() {
        return bytes;
    }

    /** Of one task. */
    long slotBytes() {
        return Math.max(1, bytes / slots);
    }
}
