package dev.ebb.djl;

import dev.ebb.djl.core.books.LeakWatch;
import java.util.List;
import java.util.function.Supplier;

/**
 * A check for tests; see {@link Ebb#expectNoLeaks}.
 *
 * <pre>{@code
 * try (LeakCheck check = Ebb.expectNoLeaks()) {
 *     train();
 * }
 * }</pre>
 */
public final class LeakCheck implements AutoCloseable {

    private final Supplier<List<String>> watch;

    LeakCheck(Supplier<List<String>> watch) {
        this.watch = watch;
    }

    /** Ends the check. Throws an {@link AssertionError} naming the sites if something leaked. */
    @Override
    public void close() {
        String message = LeakWatch.message(watch.get());
        if (message != null) {
            throw new AssertionError(message);
        }
    }

    /** Ends the check; the sites of what leaked, one for each array, without throwing. */
    public List<String> leaks() {
        return watch.get();
    }
}
