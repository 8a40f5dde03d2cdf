package dev.ebb.djl.hazards;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import java.lang.ref.WeakReference;

/**
 * A long native call, one of whose operands has no name any more: while it runs, one thread collects and gives back
 * what was found dead, and another reuses the memory. Prints in how many calls the operand was found dead meanwhile and
 * how many results are wrong; without fences it may crash.
 *
 * <pre>OperandInCall CALLS</pre>
 */
public final class OperandInCall {
    private static final Shape LARGE = new Shape(10_000_000);
    private static final Shape SMALL = new Shape(2);
    private static final int WARM_UP = 30_000;
    private static final int MOST_TRIES = 5;

    private final NDManager manager = NDManager.newBaseManager();
    private volatile WeakReference<NDArray> operand;
    private volatile boolean running;

    private OperandInCall() {}

    public static void main(String[] arguments) throws Exception {
        new OperandInCall().run(Integer.parseInt(arguments[0]));
    }

    private void run(int calls) throws Exception {
        warmUp();
        int watched = 0;
        int dead = 0;
        int wrong = 0;
        for (int i = 0; i < MOST_TRIES * calls && watched < calls; i++) {
            NDArray base = manager.ones(LARGE);
            operand = null;
            Thread caller = new Thread(() -> call(base));
            caller.start();
            while (operand == null) {
                Thread.onSpinWait();
            }
            Thread.sleep(5);
            System.gc();
            boolean isDead = operand.refersTo(null);
            if (running) {
                watched++;
                dead += isDead ? 1 : 0;
                reuseWhatComesBack();
            }
            caller.join();
            wrong += base.sum().getFloat() == LARGE.size() ? 0 : 1;
            base.close();
        }
        System.out.println("watched=" + watched);
        System.out.println("dead=" + dead);
        System.out.println("wrong=" + wrong);
    }

    private void call(NDArray base) {
        running = true;
        power(base, LARGE);
        running = false;
    }

    /**
     * The exponent is dead from the moment its handle is on the native stack, and PyTorch only borrows the operands of
     * what it computes element by element. In place, because Ebb keeps the operands of what it may have to try again.
     */
    private void power(NDArray base, Shape shape) {
        base.powi(exponent(shape));
    }

    private NDArray exponent(Shape shape) {
        NDArray made = manager.ones(shape);
        operand = new WeakReference<>(made);
        return made;
    }

    /** Interpreted frames keep what they no longer need; compiled ones do not. */
    private void warmUp() {
        NDArray base = manager.ones(SMALL);
        for (int i = 0; i < WARM_UP; i++) {
            power(base, SMALL);
        }
    }

    private void reuseWhatComesBack() throws InterruptedException {
        Thread other =
                new Thread(
                        () -> {
                            try (NDArray array = manager.full(LARGE, 7f)) {
                                array.addi(1);
                            }
                        });
        other.start();
        other.join();
    }
}
