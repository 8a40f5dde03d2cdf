package dev.ebb.djl.core;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** A direct buffer over an array's memory: as long as it, or a view of it, is reachable, so is the array. */
final class BufferPins {

    private static final Set<Pin> PINS = ConcurrentHashMap.newKeySet();

    private static final class Pin extends WeakReference<Object> {
        @SuppressWarnings("unused")
        final Object array;

        Pin(ByteBuffer view, Object array) {
            super(view, Reclaimer.QUEUE);
            this.array = array;
        }
    }

    private BufferPins() {}

    static void pin(Object array, ByteBuffer view) {
        PINS.add(new Pin(view, array));
    }

    static int size() {
        return PINS.size();
    }

    static void release(Reference<?> dead) {
        PINS.remove(dead);
    }
}
