package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;

/**
 * TensorFlow and MXNet: a handle is an object that stands for a native pointer, and a class of DJL's has functions on it.
 */
abstract class NativeArrays extends EngineAdapter {

    private final Class<?> functions;
    private final MethodHandle shape; // (Object)Object
    private final MethodHandle type;
    private final MethodHandle elements; // (Object)long
    private final MethodHandle elementBytes; // (Object)int

    NativeArrays(Class<?> array, String functionsName) throws ReflectiveOperationException {
        super(array, "handle");
        ClassLoader loader = array.getClassLoader();
        functions = Class.forName(functionsName, false, loader);
        shape = function("getShape", Object.class);
        type = function("getDataType", Object.class);
        elements = method(loader, "ai.djl.ndarray.types.Shape", "size", long.class);
        elementBytes = method(loader, "ai.djl.ndarray.types.DataType", "getNumOfBytes", int.class);
    }

    private static MethodHandle method(ClassLoader loader, String owner, String name, Class<?> result)
            throws ReflectiveOperationException {
        return MethodHandles.publicLookup()
                .unreflect(Class.forName(owner, false, loader).getMethod(name))
                .asType(MethodType.methodType(result, Object.class));
    }

    /** One of a handle. */
    final MethodHandle function(String name, Class<?> result) throws ReflectiveOperationException {
        for (Method each : functions.getDeclaredMethods()) {
            if (each.getName().equals(name) && each.getParameterCount() == 1) {
                each.setAccessible(true);
                return MethodHandles.lookup().unreflect(each).asType(MethodType.methodType(result, Object.class));
            }
        }
        throw new NoSuchMethodException(functions.getName() + "." + name);
    }

    @Override
    public long bytes(Object array, Object handle) {
        try {
            Object dimensions = (Object) shape.invokeExact(handle);
            Object dtype = (Object) type.invokeExact(handle);
            return Math.max(0, (long) elements.invokeExact(dimensions) * (int) elementBytes.invokeExact(dtype));
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }
}
