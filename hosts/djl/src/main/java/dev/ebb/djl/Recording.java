package dev.ebb.djl;

import dev.ebb.djl.core.Control;

/**
 * The recording of this process; see {@link Ebb#record}.
 *
 * <pre>{@code
 * try (Recording recording = Ebb.record("app.ebbrec")) {
 *     recording.mark("epoch 1");
 *     train();
 * }
 * }</pre>
 */
public final class Recording implements AutoCloseable {

    private final Control control;

    Recording(Control control) {
        this.control = control;
    }

    /**
     * From now on: {@code "counters"}, {@code "sampled"} or {@code "full"}.
     *
     * @throws IllegalArgumentException if it is none of them
     */
    public void mode(String mode) {
        control.recordMode(mode);
    }

    /** A line of text at this moment: an epoch, a request. */
    public void mark(String text) {
        control.recordMark(text);
    }

    /** Ends it; throws an {@link EbbException} where it had to give up, and why. A second time: nothing. */
    @Override
    public void close() {
        control.recordStop();
    }
}
