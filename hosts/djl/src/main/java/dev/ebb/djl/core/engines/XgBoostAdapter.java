package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** XGBoost: a handle is the address of a matrix. What comes out of a model is Java's memory and has none. */
final class XgBoostAdapter extends EngineAdapter {

    private static final int ELEMENT_BYTES = 4;

    private final MethodHandle delete; // (long)void
    private final Method shape;
    private final Method elements;
    private final Method format;

    XgBoostAdapter(Class<?> array) throws ReflectiveOperationException {
        super(array, "handle");
        ClassLoader loader = array.getClassLoader();
        Method method =
                Class.forName("ml.dmlc.xgboost4j.java.JniUtils", true, loader).getMethod("deleteDMatrix", long.class);
        delete = MethodHandles.publicLookup().unreflect(method).asType(MethodType.methodType(void.class, long.class));
        shape = array.getMethod("getShape");
        elements = shape.getReturnType().getMethod("size");
        format = array.getMethod("getSparseFormat");
    }

    @Override
    public Object holder(Object resource) {
        Object matrix = super.holder(resource);
        return matrix != null ? matrix : new AtomicReference<>(0L);
    }

    @Override
    public Object peek(Object holder) {
        if (!(holder instanceof AtomicLong matrix)) {
            return super.peek(holder);
        }
        long address = matrix.get();
        return address == 0 ? null : address;
    }

    @Override
    public Object take(Object holder) {
        if (!(holder instanceof AtomicLong matrix)) {
            return super.take(holder);
        }
        long address = matrix.getAndSet(0);
        return address == 0 ? null : address;
    }

    @Override
    public void delete(Object handle) {
        try {
            long address = (long) handle;
            if (address != 0) {
                delete.invokeExact(address);
            }
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }

    /** A sparse matrix has no more than its few values, which nobody tells: it counts nothing. */
    @Override
    public long bytes(Object array, Object handle) {
        try {
            boolean dense = (long) handle != 0 && format.invoke(array).toString().equals("DENSE");
            return dense ? (long) elements.invoke(shape.invoke(array)) * ELEMENT_BYTES : 0;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
