package dev.ebb.djl.core.engines;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** ONNX Runtime: a handle is the runtime's own tensor object, which knows nothing of DJL's array. */
final class OnnxAdapter extends EngineAdapter {

    private final Method info;
    private final Method shape;
    private final Field elementType;
    private final Field elementBytes;

    OnnxAdapter(Class<?> array) throws ReflectiveOperationException {
        super(array, "tensor");
        ClassLoader loader = array.getClassLoader();
        info = Class.forName("ai.onnxruntime.OnnxTensor", false, loader).getMethod("getInfo");
        Class<?> infoType = Class.forName("ai.onnxruntime.TensorInfo", false, loader);
        shape = infoType.getMethod("getShape");
        elementType = infoType.getField("type");
        elementBytes = elementType.getType().getField("size");
    }

    @Override
    public long bytes(Object array, Object handle) {
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
