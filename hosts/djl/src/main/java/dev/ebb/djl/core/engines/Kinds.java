package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Messages;
import java.util.Arrays;
import java.util.Set;

/** What a resource of a manager is, by its class. */
public final class Kinds {

    /** Neither an array of a known engine nor a manager: held strongly, as stock DJL does. */
    static final Object OTHER = new Object();

    public static final Object MANAGER = new Object();

    /** Managers of the engines that have an adapter. */
    public static final Set<String> MANAGERS =
            Set.of(
                    "ai.djl.pytorch.engine.PtNDManager",
                    "ai.djl.onnxruntime.engine.OrtNDManager",
                    "ai.djl.tensorflow.engine.TfNDManager",
                    "ai.djl.mxnet.engine.MxNDManager",
                    "ai.djl.ml.xgboost.XgbNDManager",
                    "ai.djl.ml.lightgbm.LgbmNDManager");

    private static final ClassValue<Boolean> KNOWN_MANAGERS =
            new ClassValue<>() {
                @Override
                protected Boolean computeValue(Class<?> type) {
                    return isKnown(type);
                }
            };

    private static final ClassValue<Object> KINDS =
            new ClassValue<>() {
                @Override
                protected Object computeValue(Class<?> type) {
                    return kindOf(type);
                }
            };

    private Kinds() {}

    /** {@link #OTHER}, {@link #MANAGER} or an {@link EngineAdapter}. */
    public static Object of(Object resource) {
        return KINDS.get(resource.getClass());
    }

    /**
     * Whether a manager's engine has an adapter. One without keeps its own maps: in Ebb's its arrays, held strongly,
     * would be reachable for as long as the agent is.
     */
    public static boolean knowsManager(Object manager) {
        return KNOWN_MANAGERS.get(manager.getClass());
    }

    private static boolean isKnown(Class<?> manager) {
        for (Class<?> each = manager; each != null; each = each.getSuperclass()) {
            if (MANAGERS.contains(each.getName())) {
                return true;
            }
        }
        sayUnknown(manager);
        return false;
    }

    private static void sayUnknown(Class<?> type) {
        Messages.say(
                "the engine of "
                        + type.getName()
                        + " is not known to Ebb; its arrays are left alone. Known: PyTorch, OnnxRuntime, TensorFlow, MXNet,"
                        + " XGBoost, LightGBM");
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
                    case "ai.djl.tensorflow.engine.TfNDArray":
                        return new TensorFlowAdapter(each);
                    case "ai.djl.mxnet.engine.MxNDArray":
                        return new MxNetAdapter(each);
                    case "ai.djl.ml.xgboost.XgbNDArray":
                        return new XgBoostAdapter(each);
                    case "ai.djl.ml.lightgbm.LgbmNDArray":
                        return new LightGbmAdapter(each);
                    case "ai.djl.ml.lightgbm.LgbmDataset": // in no manager, unless the program attaches it
                        return OTHER;
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
            sayUnknown(type);
        }
        return OTHER;
    }

    private static boolean isArray(Class<?> type) {
        if (type == null || type.getName().equals("ai.djl.ndarray.NDArray")) {
            return type != null;
        }
        return isArray(type.getSuperclass()) || Arrays.stream(type.getInterfaces()).anyMatch(Kinds::isArray);
    }
}
