package dev.ebb.djl.loaders;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import com.sun.tools.attach.VirtualMachine;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.support.Fork;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Uses DJL for a while, then has the agent come into the JVM: with the arguments given, once for each. */
public final class Attached {
    private static final int COUNT = 500;

    private Attached() {}

    public static void main(String[] arguments) throws Exception {
        try (NDManager outer = NDManager.newBaseManager();
                NDManager inner = outer.newSubManager()) {
            NDArray kept = inner.ones(new Shape(1000));
            NDArray view = viewOfBuffer(inner);
            drop(kept, COUNT);
            NDArray lent = outer.ones(new Shape(10));
            lent.tempAttach(inner);
            VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
            for (String given : arguments) {
                self.loadAgent(Fork.agent().toString(), given);
            }
            self.detach();
            drop(kept, COUNT);
            Ebb.collect();
            System.out.println("reclaiming=" + Ebb.isReclaiming());
            System.out.println("reclaimed=" + Ebb.memory().reclaimed());
            System.out.println("managers=" + Ebb.memory().managers());
            for (int i = 0; i < 50; i++) {
                ByteBuffer.allocateDirect(40_000).order(ByteOrder.nativeOrder()).asFloatBuffer().put(0, -7f);
            }
            System.out.println("sum=" + (kept.sum().getFloat() + view.sum().getFloat()));
            inner.close();
            System.out.println("back=" + (lent.getManager() == outer));
            Ebb.audit();
        }
        System.out.println("left=" + Ebb.memory().live());
    }

    private static void drop(NDArray x, int count) {
        for (int i = 0; i < count; i++) {
            x.add(1f);
        }
    }

    /** Of an array that shares its memory with a buffer, both dropped. */
    private static NDArray viewOfBuffer(NDManager manager) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(40_000).order(ByteOrder.nativeOrder());
        buffer.asFloatBuffer().put(0, 5f);
        return manager.create(buffer, new Shape(100, 100), DataType.FLOAT32).reshape(10_000);
    }
}
