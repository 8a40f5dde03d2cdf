package dev.ebb.djl.unit;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;

/** Makes arrays of 1 MB and drops them; says what the books said. */
public final class CarelessProgram {

    private CarelessProgram() {}

    public static void main(String[] arguments) {
        int count = Integer.parseInt(arguments[0]);
        System.out.println("switched " + Ebb.reclaim(true));
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = manager.ones(new Shape(1 << 18));
            for (int i = 0; i < count; i++) {
                x.add(x);
            }
            System.out.println("sum " + x.sum().toFloatArray()[0]);
        }
        System.out.println("peak " + Ebb.memory().peakLiveBytes() / (1 << 20));
        System.out.println("reclaimed " + Ebb.memory().reclaimed());
        System.out.println("ended well");
    }
}
