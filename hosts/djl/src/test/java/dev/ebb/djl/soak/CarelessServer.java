package dev.ebb.djl.soak;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A server on loopback whose handlers close nothing: whatever they make goes to one manager that lives as long as the server. It
 * knows nothing of Ebb. Questions and answers are floats.
 */
final class CarelessServer implements AutoCloseable {
    private static final int THREADS = 4;
    /** So many results the server holds on to. */
    static final int CACHED = 20;

    /** A table of so many parts, each an array of a megabyte: what the server holds. */
    static final int PARTS = 32;

    static final int ROWS = 4096;
    static final int COLUMNS = 64;

    /** A network whose weights follow from a formula: who asks knows the same one. */
    static final int[] SIZES = {16, 32, 8, 4};

    interface Handler {
        NDArray answer(float[] question);
    }

    private final NDManager manager = NDManager.newBaseManager();
    private final NDArray[] table = new NDArray[PARTS];
    private final NDArray[] weights = new NDArray[SIZES.length - 1];
    private final Deque<NDArray> cache = new ArrayDeque<>();
    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final HttpServer server;

    CarelessServer() throws IOException {
        for (int part = 0; part < PARTS; part++) {
            float[] values = new float[ROWS * COLUMNS];
            for (int i = 0; i < values.length; i++) {
                values[i] = entry(part, i / COLUMNS, i % COLUMNS);
            }
            table[part] = manager.create(values, new Shape(ROWS, COLUMNS));
        }
        for (int layer = 0; layer < weights.length; layer++) {
            weights[layer] = manager.create(weights(layer), new Shape(SIZES[layer], SIZES[layer + 1]));
        }
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/network", exchange -> handle(exchange, this::network));
        server.createContext("/table", exchange -> handle(exchange, this::rows));
        server.createContext("/fails", exchange -> handle(exchange, this::fails));
        server.setExecutor(threads);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    static float entry(int part, int row, int column) {
        return (31 * part + 7 * row + column) % 1000 / 1000f;
    }

    static float[] weights(int layer) {
        float[] values = new float[SIZES[layer] * SIZES[layer + 1]];
        for (int k = 0; k < values.length; k++) {
            values[k] = (float) (Math.sin(7 * k + layer) / Math.sqrt(SIZES[layer]));
        }
        return values;
    }

    private NDArray network(float[] question) {
        NDArray x = manager.create(question, new Shape(question.length / SIZES[0], SIZES[0]));
        for (int layer = 0; layer < weights.length; layer++) {
            x = x.matMul(weights[layer]);
            x = layer + 1 < weights.length ? x.maximum(0) : x.softmax(1);
        }
        synchronized (cache) {
            cache.add(x);
            if (cache.size() > CACHED) {
                cache.remove();
            }
        }
        return x;
    }

    /** The part, then rows of it. */
    private NDArray rows(float[] question) {
        int[] rows = new int[question.length - 1];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = (int) question[i + 1];
        }
        return table[(int) question[0]].get(manager.create(rows));
    }

    private NDArray fails(float[] question) {
        throw new IllegalStateException("as it always does, with " + manager.create(question).add(1).getShape());
    }

    private static void handle(HttpExchange exchange, Handler handler) throws IOException {
        try (exchange) {
            ByteBuffer given = ByteBuffer.wrap(new DataInputStream(exchange.getRequestBody()).readAllBytes());
            float[] question = new float[given.remaining() / Float.BYTES];
            given.asFloatBuffer().get(question);
            float[] values;
            try {
                values = handler.answer(question).toFloatArray();
            } catch (RuntimeException e) {
                exchange.sendResponseHeaders(500, -1);
                return;
            }
            byte[] bytes = Server.bytesOf(values);
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        manager.close();
    }
}
