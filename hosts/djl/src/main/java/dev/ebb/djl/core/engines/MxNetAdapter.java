package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;

/** MXNet: a handle is JNA's pointer to an array that may still be computed. */
final class MxNetAdapter extends NativeArrays {

    private final MethodHandle await; // (Object)void
    private final MethodHandle free;

    MxNetAdapter(Class<?> array) throws ReflectiveOperationException {
        super(array, "ai.djl.mxnet.jna.JnaUtils");
        await = function("waitToRead", void.class);
        free = function("freeNdArray", void.class);
    }

    /** As DJL does; only that a computation that failed is nobody's business here. */
    @Override
    public void delete(Object handle) {
        try {
            try {
                await.invokeExact(handle);
            } catch (RuntimeException e) {
                // nobody has asked for the result
            } finally {
                free.invokeExact(handle);
            }
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }
}
