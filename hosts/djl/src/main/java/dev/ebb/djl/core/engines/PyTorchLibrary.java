package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;

/** DJL's native methods for PyTorch, which are private to their package. */
final class PyTorchLibrary {

    private final Class<?> type;
    private final Object instance;

    PyTorchLibrary(ClassLoader loader) throws ReflectiveOperationException {
        type = Class.forName("ai.djl.pytorch.jni.PyTorchLibrary", true, loader);
        instance = Reflection.open(type, "LIB").get(null);
    }

    Object instance() {
        return instance;
    }

    MethodHandle find(String name, Class<?> result, Class<?>... parameters) throws ReflectiveOperationException {
        Method method = type.getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return MethodHandles.lookup()
                .unreflect(method)
                .bindTo(instance)
                .asType(MethodType.methodType(result, parameters));
    }

    MethodHandle findOrNull(String name, Class<?> result, Class<?>... parameters) throws ReflectiveOperationException {
        try {
            return find(name, result, parameters);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
