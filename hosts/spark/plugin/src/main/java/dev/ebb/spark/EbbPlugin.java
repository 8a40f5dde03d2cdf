package dev.ebb.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Ebb on Spark: {@code spark.plugins=dev.ebb.spark.EbbPlugin}, with ebb-spark and ebb-djl among {@code spark.jars}. DJL arrays
 * that a task has dropped are given back on its executor; what arrays hold is in Spark's metrics, its stages and its web
 * interface. docs/spark.md has the settings.
 */
public final class EbbPlugin implements SparkPlugin {

    @Override
    public DriverPlugin driverPlugin() {
        return new DriverSide();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorSide();
    }
}
