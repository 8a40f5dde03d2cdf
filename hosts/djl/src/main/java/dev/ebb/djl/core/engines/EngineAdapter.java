package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;

/** What Ebb has to know about an engine's arrays, or modules. One for each class of them. */
public abstract class EngineAdapter {

    private final MethodHandle handle; // (Object)AtomicReference
    private final Field manager;
    private final Field uid;

    /** Of a class of DJL's, which keeps its native handle in the field of this name. */
    EngineAdapter(Class<?> resource, String handleField) throws ReflectiveOperationException {
        handle =
                MethodHandles.lookup()
                        .unreflectGetter(Reflection.openInherited(resource, handleField))
                        .asType(MethodType.methodType(AtomicReference.class, Object.class));
        manager = Reflection.openInherited(resource, "manager");
        uid = Reflection.openInherited(resource, "uid");
    }

    /** Where the resource keeps its native handle; null in it means closed. */
    public final AtomicReference<?> handle(Object resource) {
        try {
            return (AtomicReference<?>) handle.invokeExact(resource);
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }

    /** The manager of an array, and its name there. */
    public final Object manager(Object array) {
        return Reflection.read(manager, array);
    }

    public final String uid(Object array) {
        return (String) Reflection.read(uid, array);
    }

    /** Frees what a handle names. */
    public abstract void delete(Object handle);

    /** The same by the next {@link Deletions#flush} of this thread. */
    public void deleteSoon(Object handle) {
        delete(handle);
    }

    /** Bytes behind a handle, as the native side knows them: an array's own idea of its shape may be outdated. */
    public abstract long bytes(Object handle);

    /** A handle of the engine over memory of its own, with the content of the given one over {@code data}, which is deleted. */
    public long ownMemory(long handle, ByteBuffer data) {
        return handle;
    }

    /** The program's buffer whose memory the array shares; null if it has memory of its own. */
    public Object aliasOf(Object array) {
        return null;
    }

    /** Overwrites an array's content without keeping the buffer; false if the engine does that by itself. */
    public boolean set(Object array, ByteBuffer data) {
        return false;
    }
}
