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

    private final MethodHandle holder; // (Object)Object
    private final MethodHandle attach; // (Object, Object)void
    private final Field manager;
    private final Field uid;

    /** Of a class of DJL's, which keeps its native handle in the field of this name. */
    EngineAdapter(Class<?> resource, String handleField) throws ReflectiveOperationException {
        holder =
                MethodHandles.lookup()
                        .unreflectGetter(Reflection.openInherited(resource, handleField))
                        .asType(MethodType.methodType(Object.class, Object.class));
        manager = Reflection.openInherited(resource, "manager");
        uid = Reflection.openInherited(resource, "uid");
        ClassLoader loader = resource.getClassLoader();
        Class<?> managers = Class.forName("ai.djl.ndarray.NDManager", false, loader);
        attach =
                MethodHandles.publicLookup()
                        .findVirtual(
                                Class.forName("ai.djl.ndarray.NDResource", false, loader),
                                "attach",
                                MethodType.methodType(void.class, managers))
                        .asType(MethodType.methodType(void.class, Object.class, Object.class));
    }

    /** Where the resource keeps its native handle: what is needed to free it, and does not reach it. */
    public Object holder(Object resource) {
        try {
            return (Object) holder.invokeExact(resource);
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }

    /** The handle in a holder; null: closed. */
    public Object peek(Object holder) {
        return ((AtomicReference<?>) holder).get();
    }

    /** The same, for who frees it: nobody else gets it any more. */
    public Object take(Object holder) {
        return ((AtomicReference<?>) holder).getAndSet(null);
    }

    /** Puts the handle into the holder that the array has by now, where the two are not the same object. */
    public void update(Object holder, Object array) {}

    /** Leaves the array nothing to free. */
    public void empty(Object array) {}

    /** The manager of an array, and its name there. */
    public final Object manager(Object array) {
        return Reflection.read(manager, array);
    }

    public final String uid(Object array) {
        return (String) Reflection.read(uid, array);
    }

    /** As the program would. */
    public final void attach(Object array, Object to) {
        try {
            attach.invokeExact(array, to);
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }

    /** Frees what a handle names: by its own close, unless the engine has another way. */
    public void delete(Object handle) {
        try {
            ((AutoCloseable) handle).close();
        } catch (Exception e) {
            throw Reflection.unexpected(e);
        }
    }

    /** The same by the next {@link Deletions#flush} of this thread. */
    public void deleteSoon(Object handle) {
        delete(handle);
    }

    /** Bytes behind an array's handle, as the native side knows them: its own idea of its shape may be outdated. */
    public abstract long bytes(Object array, Object handle);

    /** DJL's text for the device that it is on; null: its manager's. */
    public String deviceOf(Object array) {
        return null;
    }

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
