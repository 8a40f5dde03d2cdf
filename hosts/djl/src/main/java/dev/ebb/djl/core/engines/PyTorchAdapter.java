package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.Reflection;
import dev.ebb.djl.core.pressure.OutOfMemory;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;

/** PyTorch: a handle is the address of a tensor, or of a module. */
public final class PyTorchAdapter extends EngineAdapter {

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
    private final Field alias;
    private final Method device;
    private final MethodHandle delete; // (long)void
    private final TensorBytes bytes;
    private final MethodHandle copy; // (long)long
    private final PyTorchSetter setter;
    private final PyTorchLibrary library;
    private final long deleteFunction; // of tensors, many at a time; 0: they are deleted one by one

    private PyTorchAdapter(Class<?> resource, boolean modules) throws ReflectiveOperationException {
        super(resource, "handle");
        this.modules = modules;
        device = modules ? null : resource.getMethod("getDevice");
        alias = modules ? null : Reflection.open(resource, "dataRef");
        library = new PyTorchLibrary(resource.getClassLoader());
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
    public static EngineAdapter ofManager(Object manager) {
        return OF_MANAGER.get(manager.getClass());
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
        Native.deleteAll(deleteFunction, library.instance(), handles, count, bytes.storageAt());
    }

    void delete(long handle) {
        if (handle == NONE) {
            return;
        }
        try {
            delete.invokeExact(handle);
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
        }
    }

    @Override
    public long bytes(Object array, Object handle) {
        long address = (long) handle;
        if (modules || address == NONE) {
            return 0;
        }
        return bytes.of(address);
    }

    @Override
    public String deviceOf(Object array) {
        Object address = modules ? null : peek(holder(array));
        if (address == null || (long) address == NONE) {
            return null;
        }
        try {
            return String.valueOf(device.invoke(array));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Object aliasOf(Object array) {
        return modules ? null : Reflection.read(alias, array);
    }

    @Override
    public long ownMemory(long handle, ByteBuffer data) {
        try {
            return copied(handle);
        } catch (Throwable e) {
            throw Reflection.unexpected(e);
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
        return setter.set((long) peek(holder(array)), data);
    }
}
