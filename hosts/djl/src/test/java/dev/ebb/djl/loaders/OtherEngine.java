package dev.ebb.djl.loaders;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.BaseNDManager;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SymbolBlock;
import ai.djl.training.GradientCollector;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;

/** Stands for an engine that Ebb has no adapter for: its manager, and arrays whose class says by its parents that they are. */
public final class OtherEngine {
    private OtherEngine() {}

    /** As MXNet's: an array by an interface of its own. */
    interface Lazy extends NDArray {}

    /** The engine; asked for nothing but its name and what else it uses. */
    static final class Nameless extends Engine {
        @Override
        public Engine getAlternativeEngine() {
            return null;
        }

        @Override
        public String getEngineName() {
            return "Other";
        }

        @Override
        public int getRank() {
            return 100;
        }

        @Override
        public String getVersion() {
            return "1";
        }

        @Override
        public boolean hasCapability(String capability) {
            return false;
        }

        @Override
        public Model newModel(String name, Device device) {
            throw new UnsupportedOperationException();
        }

        @Override
        public NDManager newBaseManager() {
            return newBaseManager(Device.cpu());
        }

        @Override
        public NDManager newBaseManager(Device device) {
            return Manager.SYSTEM.newSubManager(device);
        }

        // DJL 0.20.0 asks for these two.

        public SymbolBlock newSymbolBlock(NDManager manager) {
            throw new UnsupportedOperationException();
        }

        public GradientCollector newGradientCollector() {
            throw new UnsupportedOperationException();
        }
    }

    /** Of the engine. */
    public static final class Manager extends BaseNDManager {
        private static final Engine ENGINE = new Nameless();
        static final Manager SYSTEM = new Manager(null);

        Manager(NDManager parent) {
            super(parent, Device.cpu());
        }

        @Override
        public Engine getEngine() {
            return ENGINE;
        }

        @Override
        public ByteBuffer allocateDirect(int capacity) {
            return ByteBuffer.allocate(capacity);
        }

        @Override
        public NDArray from(NDArray array) {
            return array;
        }

        @Override
        public NDArray zeros(Shape shape, DataType dataType) {
            throw new UnsupportedOperationException();
        }

        @Override
        public NDArray ones(Shape shape, DataType dataType) {
            throw new UnsupportedOperationException();
        }

        @Override
        public NDManager newSubManager(Device device) {
            Manager made = new Manager(this);
            attachUncappedInternal(made.uid, made);
            return made;
        }

        void add(String name) {
            NDManager owner = this;
            attachUncappedInternal(
                    name,
                    (NDArray)
                            Proxy.newProxyInstance(
                                    OtherEngine.class.getClassLoader(),
                                    new Class<?>[] {Lazy.class},
                                    (array, method, given) -> method.getName().equals("getManager") ? owner : null));
        }
    }

    /** Drops a manager with what it holds. */
    public static void main(String[] arguments) {
        Manager dropped = (Manager) Manager.SYSTEM.newSubManager(Device.cpu());
        for (int i = 0; i < 3; i++) {
            dropped.add("array" + i);
        }
    }
}
