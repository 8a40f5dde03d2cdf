package dev.ebb.djl.core;

/** What a resource of a manager is, by its class. */
final class Kinds {

    /** Neither an array of a known engine nor a manager: held strongly, as stock DJL does. */
    static final Object OTHER = new Object();

    static final Object MANAGER = new Object();

    private static final ClassValue<Object> KINDS =
            new ClassValue<>() {
                @Override
                protected Object computeValue(Class<?> type) {
                    return kindOf(type);
                }
            };

    private Kinds() {}

    /** {@link #OTHER}, {@link #MANAGER} or an {@link EngineAdapter}. */
    static Object of(Object resource) {
        return KINDS.get(resource.getClass());
    }

    private static Object kindOf(Class<?> type) {
        try {
            for (Class<?> each = type; each != null; each = each.getSuperclass()) {
                switch (each.getName()) {
                    case "ai.djl.ndarray.BaseNDManager":
                        return MANAGER;
                    case "ai.djl.pytorch.engine.PtNDArray":
                        return PyTorchAdapter.arrays(each);
                    case "ai.djl.pytorch.engine.PtSymbolBlock":
                        return PyTorchAdapter.modules(each);
                    case "ai.djl.onnxruntime.engine.OrtNDArray":
                        return new OnnxAdapter(each);
                    default:
                        break;
                }
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            Messages.say(
                    type.getName()
                            + " is not as Ebb knows it ("
                            + e
                            + "); its arrays are left alone. Supported: DJL 0.20.0 to 0.35.1");
            return OTHER;
        }
        if (isArray(type)) {
            Messages.say(
                    "the engine of "
                            + type.getName()
                            + " is not known to Ebb; its arrays are left alone. Known: PyTorch, OnnxRuntime");
        }
        return OTHER;
    }

    private static boolean isArray(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Class<?> implemented : each.getInterfaces()) {
                if (implemented.getName().equals("ai.djl.ndarray.NDArray")) {
                    return true;
                }
            }
        }
        return false;
    }
}
