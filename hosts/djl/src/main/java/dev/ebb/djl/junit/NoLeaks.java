package dev.ebb.djl.junit;

import dev.ebb.djl.Ebb;
import dev.ebb.djl.LeakCheck;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** {@code @ExtendWith(NoLeaks.class)}: a test fails if it drops an array without closing it. */
public final class NoLeaks implements BeforeEachCallback, AfterEachCallback {

    private static final ExtensionContext.Namespace SPACE = ExtensionContext.Namespace.create(NoLeaks.class);

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(SPACE).put(context.getUniqueId(), Ebb.expectNoLeaks());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        context.getStore(SPACE).remove(context.getUniqueId(), LeakCheck.class).close();
    }
}
