package dev.ebb.spark;

import java.io.Serializable;
import java.util.Map;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The driver, seen from an executor. That it does not answer never fails a task. */
final class Driver {

    private static final Logger LOG = LoggerFactory.getLogger(Driver.class);

    private final PluginContext context;

    Driver(PluginContext context) {
        this.context = context;
    }

    void tell(Serializable message) {
        try {
            context.send(message);
        } catch (Exception e) {
            LOG.debug("[ebb] the driver was not told", e);
        }
    }

    /** Empty if no answer came. */
    Map<?, ?> ask(Serializable message) {
        try {
            return context.ask(message) instanceof Map<?, ?> answer ? answer : Map.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the task is being killed
            return Map.of();
        } catch (Exception e) {
            LOG.debug("[ebb] the driver did not answer", e);
            return Map.of();
        }
    }
}
