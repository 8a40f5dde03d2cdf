package dev.ebb.djl.metrics;

/** What JMX shows as {@code dev.ebb:type=Memory}: {@code -Debb.jmx=true}, or {@link EbbJmx#register}. */
public interface EbbMXBean {

    long getCreated();

    long getLive();

    long getClosed();

    long getEndedWithManager();

    long getReclaimed();

    long getWaitingToBeReclaimed();

    long getLiveBytes();

    long getPeakLiveBytes();

    long getReclaimedBytes();

    long getManagers();

    long getCollections();

    double getCollectionSeconds();

    boolean isReclaiming();

    void setReclaiming(boolean on);

    boolean isTracing();

    void setTracing(boolean on);

    /** Collects and gives back; how many arrays. */
    long collect();

    /** Who holds what, by creation site. */
    String report(int top);

    /** OpenMetrics text. */
    String metrics();
}
