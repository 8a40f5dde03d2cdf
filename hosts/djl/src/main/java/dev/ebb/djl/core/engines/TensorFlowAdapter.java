package dev.ebb.djl.core.engines;

import dev.ebb.djl.core.Reflection;

/** TensorFlow: a handle is JavaCPP's pointer to a counted handle of an eager tensor. */
final class TensorFlowAdapter extends NativeArrays {

    TensorFlowAdapter(Class<?> array) throws ReflectiveOperationException {
        super(array, "ai.djl.tensorflow.engine.javacpp.JavacppUtils");
    }

    @Override
    public void delete(Object handle) {
        try {
            ((AutoCloseable) handle).close();
        } catch (Exception e) {
            throw Reflection.unexpected(e);
        }
    }
}
