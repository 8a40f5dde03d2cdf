package dev.ebb.djl.agent;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;

/**
 * DJL's classes as {@link Weaver} makes them, ready in the jar for the versions that it was built with: loading Byte Buddy
 * and weaving takes longer than everything else at the start. They are found by the content of the class that they
 * replace, so a class that differs in a bit is woven when it is loaded.
 */
final class Woven {

    /** For tests: without them weaving is another, and nothing is ready. */
    static final boolean FENCES = !Boolean.getBoolean("ebb.without.fences");

    static final boolean OWN = !Boolean.getBoolean("ebb.without.ownMemory");

    /** Every class that is woven. */
    static final Set<String> NAMES =
            Set.of(
                    "ai.djl.ndarray.BaseNDManager",
                    "ai.djl.ndarray.NDScope",
                    "ai.djl.ndarray.NDArray",
                    "ai.djl.pytorch.engine.PtNDArray",
                    "ai.djl.pytorch.engine.PtNDManager",
                    "ai.djl.pytorch.jni.JniUtils",
                    "ai.djl.pytorch.jni.IValue",
                    "ai.djl.pytorch.jni.IValueUtils",
                    "ai.djl.onnxruntime.engine.OrtNDArray",
                    "ai.djl.onnxruntime.engine.OrtSymbolBlock",
                    "ai.djl.tensorflow.engine.TfNDArray",
                    "ai.djl.tensorflow.engine.TfOpExecutor",
                    "ai.djl.tensorflow.engine.TfSymbolBlock",
                    "ai.djl.mxnet.engine.MxNDArray",
                    "ai.djl.mxnet.engine.CachedOp",
                    "ai.djl.mxnet.jna.JnaUtils",
                    "ai.djl.ml.xgboost.XgbNDArray",
                    "ai.djl.ml.xgboost.XgbSymbolBlock",
                    "ai.djl.ml.lightgbm.LgbmNDArray",
                    "ai.djl.ml.lightgbm.LgbmSymbolBlock",
                    "ai.djl.ml.lightgbm.jni.JniUtils");

    /** Where the jar has them. */
    static final String FOLDER = "dev/ebb/djl/woven/";

    private static final long BASIS = 0xcbf29ce484222325L; // FNV-1a
    private static final long PRIME = 0x100000001b3L;

    private Woven() {}

    /** The name of the file that replaces a class of this content. */
    static String file(String type, byte[] content) {
        long hash = BASIS;
        for (byte each : content) {
            hash = (hash ^ (each & 0xff)) * PRIME;
        }
        return type + "-" + Long.toHexString(hash) + "-" + content.length;
    }

    /** Null if the jar has none. */
    static byte[] find(String type, byte[] content) throws IOException {
        if (!FENCES || !OWN) {
            return null;
        }
        try (InputStream ready = Woven.class.getResourceAsStream("/" + FOLDER + file(type, content))) {
            return ready == null ? null : ready.readAllBytes();
        }
    }
}
