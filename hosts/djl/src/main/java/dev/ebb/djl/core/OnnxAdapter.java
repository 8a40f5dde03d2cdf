package dev.ebb.djl.core;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicReference;

/** ONNX Runtime: a handle is the runtime's own tensor object, which knows nothing of DJL's array. */
final class OnnxAdapter implements EngineAdapter {

    private final Field tensor;
    private final Field manager;
    private final Field uid;
    private final Method info;
    private final Method shape;
    private final Field elementType;
    private final Field elementBytes;

    OnnxAdapter(Class<?> array) throws ReflectiveOperationException {
        tensor = PyTorchAdapter.Library.open(array, "tensor");
        manager = PyTorchAdapter.Library.open(array.getSuperclass(), "manager");
        uid = PyTorchAdapter.Library.open(array.getSuperclass(), "uid");
        ClassLoader loader = array.getClassLoader();
        info = Class.forName("ai.onnxruntime.OnnxTensor", false, loader).getMethod("getInfo");
        Class<?> infoType = Class.forName("ai.onnxruntime.TensorInfo", false, loader);
        shape = infoType.getMethod("getShape");
        elementType = infoType.getField("type");
        elementBytes = elementType.getType().getField("size");
    }

    @Override
    public String engineName() {
        return "OnnxRuntime";
    }

    @Override
    public AtomicReference<?> handle(Object resource) {
        return (AtomicReference<?>) PyTorchAdapter.Library.read(tensor, resource);
    }

    @Override
    public Object manager(Object array) {
        return PyTorchAdapter.Library.read(manager, array);
    }

    @Override
    public String uid(Object array) {
        return (String) PyTorchAdapter.Library.read(uid, array);
    }

    @Override
    public void delete(Object handle) {
        try {
            ((AutoCloseable) handle).close();
        } catch (Exception e) {
            throw PyTorchAdapter.Library.unexpected(e);
        }
    }

    @Override
    public long bytes(Object handle) {
        try {
            Object described = info.invoke(handle);
            long bytes = elementBytes.getInt(elementType.get(described));
            for (long size : (long[]) shape.invoke(described)) {
                bytes *= size;
            }
            return Math.max(0, bytes);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
