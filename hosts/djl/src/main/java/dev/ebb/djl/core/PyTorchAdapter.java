package dev.ebb.djl.core;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicReference;

/** PyTorch: a handle is the address of a tensor, or of a module. */
final class PyTorchAdapter implements EngineAdapter {

    private static final long NONE = -1L; // an array of strings has no tensor

    private static final ClassValue<EngineAdapter> OF_MANAGER =
            new ClassValue<>() {
                @Override
                protected EngineAdapter computeValue(Class<?> manager) {
                    try {
                        return arrays(
                                Class.forName(
                                        "ai.djl.pytorch.engine.PtNDArray", false, manager.getClassLoader()));
                    } catch (ReflectiveOperationException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };

    private final boolean modules;
    private final MethodHandle handleGetter; // (Object)AtomicReference
    private final Field manager;
    private final Field uid;
    private final Field alias;
    private final MethodHandle delete; // (long)void
    private final TensorBytes bytes;
    private final MethodHandle copy; // (long)long
    private final PyTorchSetter setter;
    private final Library library;
    private final long deleteFunction; // of tensors, many at a time; 0: they are deleted one by one

    private PyTorchAdapter(Class<?> resource, boolean modules) throws ReflectiveOperationException {
        this.modules = modules;
        Class<?> named = modules ? resource : resource.getSuperclass();
        Field handle = Library.open(named, "handle");
        uid = Library.open(named, "uid");
        manager = Library.open(resource, "manager");
        alias = modules ? null : Library.open(resource, "dataRef");
        handleGetter =
                MethodHandles.lookup()
                        .unreflectGetter(handle)
                        .asType(MethodType.methodType(AtomicReference.class, Object.class));
        library = new Library(resource.getClassLoader());
        deleteFunction = modules ? 0 : Native.findDelete();
        delete = library.find(modules ? "torchDeleteModule" : "torchDeleteTensor", void.class, long.class);
        bytes = modules ? null : new TensorBytes(library);
        copy = library.find("tensorClone", long.class, long.class);
        setter = modules ? null : new PyTorchSetter(library);
    }

    static PyTorchAdapter arrays(Class<?> array) throws ReflectiveOperationException {
        return new PyTorchAdapter(array, false);
    }

    static PyTorchAdapter modules(Class<?> block) throws ReflectiveOperationException {
        return new PyTorchAdapter(block, true);
    }

    /** That of the arrays of a PyTorch manager. */
    static EngineAdapter ofManager(Object manager) {
        return OF_MANAGER.get(manager.getClass());
    }

    @Override
    public String engineName() {
        return "PyTorch";
    }

    @Override
    public AtomicReference<?> handle(Object resource) {
        try {
            return (AtomicReference<?>) handleGetter.invokeExact(resource);
        } catch (Throwable e) {
            throw Library.unexpected(e);
        }
    }

    @Override
    public Object manager(Object array) {
        return Library.read(manager, array);
    }

    @Override
    public String uid(Object array) {
        return (String) Library.read(uid, array);
    }

    @Override
    public void delete(Object handle) {
        delete((long) handle);
    }

    @Override
    public void deleteSoon(Object handle) {
        if (deleteFunction == 0 || (long) handle == NONE) {
            delete(handle);
        } else {
            Deletions.add(this, (long) handle);
        }
    }

    void deleteAll(long[] handles, int count) {
        Native.deleteAll(deleteFunction, library.instance, handles, count, bytes.storageAt());
    }

    void delete(long handle) {
        if (handle == NONE) {
            return;
        }
        try {
            delete.invokeExact(handle);
        } catch (Throwable e) {
            throw Library.unexpected(e);
        }
    }

    @Override
    public long bytes(Object handle) {
        long address = (long) handle;
        if (modules || address == NONE) {
            return 0;
        }
        return bytes.of(address);
    }

    @Override
    public Object aliasOf(Object array) {
        return modules ? null : Library.read(alias, array);
    }

    @Override
    public long ownMemory(long handle, ByteBuffer data) {
        try {
            return copied(handle);
        } catch (Throwable e) {
            throw Library.unexpected(e);
        } finally {
            delete(handle);
            Reference.reachabilityFence(data);
        }
    }

    private long copied(long handle) throws Throwable {
        for (boolean again = false; ; again = true) {
            try {
                return (long) copy.invokeExact(handle);
            } catch (Throwable e) {
                Throwable told = OutOfMemory.handle(e, again);
                if (told != null) {
                    throw told;
                }
            }
        }
    }

    @Override
    public boolean set(Object array, ByteBuffer data) {
        return setter.set((long) handle(array).get(), data);
    }

    /** DJL's native methods, which are private to their package. */
    static final class Library {

        private final Class<?> type;
        private final Object instance;

        Library(ClassLoader loader) throws ReflectiveOperationException {
            type = Class.forName("ai.djl.pytorch.jni.PyTorchLibrary", true, loader);
            instance = open(type, "LIB").get(null);
        }

        static Field open(Class<?> type, String name) throws NoSuchFieldException {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        }

        static Object read(Field field, Object object) {
            try {
                return field.get(object);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }

        MethodHandle find(String name, Class<?> result, Class<?>... parameters)
                throws ReflectiveOperationException {
            Method method = type.getDeclaredMethod(name, parameters);
            method.setAccessible(true);
            return MethodHandles.lookup()
                    .unreflect(method)
                    .bindTo(instance)
                    .asType(MethodType.methodType(result, parameters));
        }

        MethodHandle findOrNull(String name, Class<?> result, Class<?>... parameters)
                throws ReflectiveOperationException {
            try {
                return find(name, result, parameters);
            } catch (NoSuchMethodException e) {
                return null;
            }
        }

        static RuntimeException unexpected(Throwable thrown) {
            if (thrown instanceof RuntimeException runtime) {
                return runtime;
            }
            if (thrown instanceof Error error) {
                throw error;
            }
            return new IllegalStateException(thrown);
        }
    }
}
