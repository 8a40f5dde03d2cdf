package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicReference;

/**
 * LightGBM: an array is Java's memory until a model first reads it, which makes a native copy of it. The copy is in fields
 * of the array, and every close would free it. Here it is in the watch's holder as well; who takes it out of that frees it.
 */
final class LightGbmAdapter extends EngineAdapter {

    private static final Object NO_COPY = new Object();

    private final Copy floats;
    private final Copy doubles;
    private final Field inUse; // what models get: empty once the copy is gone
    private final Method shape;
    private final Method elements;

    LightGbmAdapter(Class<?> array) throws ReflectiveOperationException {
        super(array, "handle");
        floats = new Copy(array, "floatData", "delete_floatArray", Float.BYTES);
        doubles = new Copy(array, "doubleData", "delete_doubleArray", Double.BYTES);
        inUse = Reflection.open(array, "handle");
        shape = array.getMethod("getShape");
        elements = shape.getReturnType().getMethod("size");
    }

    /** The array's own comes after its manager has heard of it, and is another after {@code intern}. */
    @Override
    public Object holder(Object array) {
        Object copy = copyOf(array);
        return new AtomicReference<>(copy == null ? NO_COPY : copy);
    }

    private Object copyOf(Object array) {
        Object copy = Reflection.read(floats.field, array);
        return copy != null ? copy : Reflection.read(doubles.field, array);
    }

    /** Without one in use the engine has freed its own in {@code intern}, and the fields are those of the array that it closed. */
    @Override
    @SuppressWarnings("unchecked") // as holder made it
    public void update(Object holder, Object array) {
        boolean used = ((AtomicReference<?>) Reflection.read(inUse, array)).get() != null;
        if (!used) {
            empty(array);
        }
        Object copy = used ? copyOf(array) : null;
        ((AtomicReference<Object>) holder).updateAndGet(now -> now == null ? null : copy == null ? NO_COPY : copy);
    }

    @Override
    public void empty(Object array) {
        Reflection.write(floats.field, array, null);
        Reflection.write(doubles.field, array, null);
        ((AtomicReference<?>) Reflection.read(inUse, array)).set(null);
    }

    @Override
    public void delete(Object copy) {
        if (copy != NO_COPY) {
            kind(copy).delete(copy);
        }
    }

    private Copy kind(Object copy) {
        return floats.field.getType().isInstance(copy) ? floats : doubles;
    }

    @Override
    public long bytes(Object array, Object copy) {
        try {
            return copy == NO_COPY ? 0 : (long) elements.invoke(shape.invoke(array)) * kind(copy).elementBytes;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Native memory for elements of one type. */
    private static final class Copy {
        final Field field;
        final int elementBytes;
        private final MethodHandle delete; // (Object)void

        Copy(Class<?> array, String field, String delete, int elementBytes) throws ReflectiveOperationException {
            this.field = Reflection.open(array, field);
            this.elementBytes = elementBytes;
            Class<?> functions = Class.forName("com.microsoft.ml.lightgbm.lightgbmlib", true, array.getClassLoader());
            this.delete =
                    MethodHandles.publicLookup()
                            .unreflect(functions.getMethod(delete, this.field.getType()))
                            .asType(MethodType.methodType(void.class, Object.class));
        }

        void delete(Object copy) {
            try {
                delete.invokeExact(copy);
            } catch (Throwable e) {
                throw Reflection.unexpected(e);
            }
        }
    }
}
