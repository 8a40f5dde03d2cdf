package dev.ebb.djl.core.engines;

/** TensorFlow: a handle is JavaCPP's pointer to a counted handle of an eager tensor. */
final class TensorFlowAdapter extends NativeArrays {

    TensorFlowAdapter(Class<?> array) throws ReflectiveOperationException {
        super(array, "ai.djl.tensorflow.engine.javacpp.JavacppUtils");
    }
}
