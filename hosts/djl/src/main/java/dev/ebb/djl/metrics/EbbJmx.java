package dev.ebb.djl.metrics;

import dev.ebb.djl.Ebb;
import dev.ebb.djl.core.Control;
import java.lang.management.ManagementFactory;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.ObjectName;

/** The books for JMX. Reading them gives nothing back: any thread may look. */
public final class EbbJmx implements EbbMXBean {

    private volatile boolean tracing;

    private EbbJmx() {}

    /** With the platform's server, as {@code dev.ebb:type=Memory}. A second time: nothing. */
    public static void register() {
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(new EbbJmx(), new ObjectName("dev.ebb:type=Memory"));
        } catch (InstanceAlreadyExistsException e) {
            return; // as wanted
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }

    private static long read(String column) {
        return Control.current().look().getOrDefault(column, 0L);
    }

    @Override
    public long getCreated() {
        return read("created");
    }

    @Override
    public long getLive() {
        return read("live");
    }

    @Override
    public long getClosed() {
        return read("disposed");
    }

    @Override
    public long getEndedWithManager() {
        return read("regionEnded");
    }

    @Override
    public long getReclaimed() {
        return read("reclaimed");
    }

    @Override
    public long getWaitingToBeReclaimed() {
        return read("orphans");
    }

    @Override
    public long getLiveBytes() {
        return read("liveBytes");
    }

    @Override
    public long getPeakLiveBytes() {
        return read("peakLiveBytes");
    }

    @Override
    public long getReclaimedBytes() {
        return read("reclaimedBytes");
    }

    @Override
    public long getManagers() {
        return read("managers");
    }

    @Override
    public long getCollections() {
        return read("collections");
    }

    @Override
    public double getCollectionSeconds() {
        return read("collectNanos") / 1e9;
    }

    @Override
    public boolean isReclaiming() {
        return Ebb.isReclaiming();
    }

    @Override
    public void setReclaiming(boolean on) {
        Ebb.reclaim(on);
    }

    @Override
    public boolean isTracing() {
        return tracing;
    }

    @Override
    public void setTracing(boolean on) {
        Ebb.trace(on);
        tracing = on;
    }

    @Override
    public long collect() {
        return Ebb.collect();
    }

    @Override
    public String report(int top) {
        return Control.current().lookReport(top, false);
    }

    @Override
    public String metrics() {
        return OpenMetrics.text();
    }
}
