package dev.ebb.djl.support;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Each test runs {@link WithCollections}; what it has let go of is found dead at the next safe point, wherever that is. */
public final class ForcedCollections implements BeforeEachCallback, AfterEachCallback {

    private WithCollections collections;

    @Override
    public void beforeEach(ExtensionContext context) {
        collections = WithCollections.start(context.getDisplayName().hashCode());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        collections.close();
    }
}
