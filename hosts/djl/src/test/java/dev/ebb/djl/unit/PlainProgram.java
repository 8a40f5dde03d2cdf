package dev.ebb.djl.unit;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;

/** A careless program that knows nothing of Ebb. */
public final class PlainProgram {

    private PlainProgram() {}

    public static void main(String[] arguments) {
        try (NDManager manager = NDManager.newBaseManager()) {
            NDArray x = manager.ones(new Shape(1000));
            for (int i = 0; i < 2000; i++) {
                x = x.mul(1);
            }
            System.out.println("sum " + x.sum().toFloatArray()[0]);
        }
        System.out.println("ended well");
    }
}
