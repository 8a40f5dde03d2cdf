package dev.ebb.djl.unit;

/** Uses neither DJL nor Ebb. */
public final class EmptyProgram {

    private EmptyProgram() {}

    public static void main(String[] arguments) {
        System.out.println("ended well");
    }
}
