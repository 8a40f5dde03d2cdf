package dev.ebb.djl.core;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;

/** What Ebb has to know about an engine's arrays, or modules. One for each class of them. */
interface EngineAdapter {

    String engineName();

    /** Where the resource keeps its native handle; null in it means closed. */
    AtomicReference<?> handle(Object resource);

    /** The manager of an array, and its name there. */
    Object manager(Object array);

    String uid(Object array);

    /** Frees what a handle names. */
    void delete(Object handle);

    /** The same by the next {@link Deletions#flush} of this thread. */
    default void deleteSoon(Object handle) {
        delete(handle);
    }

    /** Bytes behind a handle, as the native side knows them: an array's own idea of its shape may be outdated. */
    long bytes(Object handle);

    /** A handle of the engine over memory of its own, with the content of the given one over {@code data}, which is deleted. */
    default long ownMemory(long handle, ByteBuffer data) {
        return handle;
    }

    /** The program's buffer whose memory the array shares; null if it has memory of its own. */
    default Object aliasOf(Object array) {
        return null;
    }

    /** Overwrites an array's content without keeping the buffer; false if the engine does that by itself. */
    default boolean set(Object array, ByteBuffer data) {
        return false;
    }
}
