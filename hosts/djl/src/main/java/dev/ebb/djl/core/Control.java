package dev.ebb.djl.core;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;

/** What the public API asks for. Only the JDK's types: the answer may come from another copy of Ebb's classes. */
public interface Control {

    /** This copy's, or the agent's where that is another one. */
    static Control current() {
        return EbbRuntime.hasAgent() || !FirstCopy.isAnother() ? EbbRuntime.CONTROL : FirstCopy.CONTROL;
    }

    boolean reclaim(boolean on);

    boolean isReclaiming();

    void budget(String device, String bytes);

    void strict(boolean on);

    /** {@code "first"} or {@code "shortest"}, for a manager and those below it; null: for all. */
    void ownership(Object manager, String rule);

    /** By the names of the components of {@code Memory}; empty if Ebb does not work. A device's; null: of all. */
    Map<String, Long> memory(String device);

    String report(int top, boolean json);

    void trace(boolean on);

    long collect();

    /** Starts a leak check; what it returns ends it and tells the sites of what was dropped, one for each array. */
    Supplier<List<String>> watchLeaks();

    /** The same for what the calling thread makes. */
    Supplier<List<String>> watchLeaksHere();

    void audit();

    /** {@code how}: counters, sampled or full; {@code most}: a size as text, or null. */
    void recordStart(String file, String how, String most);

    void recordMode(String how);

    void recordMark(String text);

    void recordStop();

    /** As {@code observe.Metrics} has them; empty if Ebb does not work. */
    List<Map<String, Object>> metrics();

    /** Bytes of a size as text, e.g. 2GB. */
    long parse(String size);

    String why(Object array, boolean evenIfLarge);

    Map<String, String> holders(String place, boolean evenIfLarge);

    // ---- for hosts of tasks

    /** {@link #memory} without giving anything back: any thread may look. */
    Map<String, Long> look();

    /** {@link #report} likewise. */
    String lookReport(int top, boolean json);

    /**
     * A task begins on this thread. What it returns tells the counts so far, by the names of the components of
     * {@code TaskRegion.Counts}, and ends the task if given true.
     */
    Function<Boolean, Map<String, Long>> openTask(String name);

    /** Of what tasks made and dropped, and Ebb gave back: arrays and bytes by creation site. */
    Map<String, long[]> reclaimedBySite();

    /** Whether a task has ended and left arrays open that {@link #reviewTasks} has not looked at. */
    boolean tasksToReview();

    /** Collects if there is something to review; "name" and "lines" (site to arrays and bytes) of tasks that left something. */
    List<Map<String, Object>> reviewTasks();
}
