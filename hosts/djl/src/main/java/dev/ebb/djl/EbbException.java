package dev.ebb.djl;

/** Something Ebb was asked for is not possible; the message says what to do. */
public class EbbException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public EbbException(String message) {
        super(message);
    }
}
