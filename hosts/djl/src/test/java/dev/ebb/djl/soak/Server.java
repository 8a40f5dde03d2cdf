package dev.ebb.djl.soak;

import ai.djl.Device;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Memory;
import dev.ebb.djl.support.Resident;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * A careless server under load, with a budget of 1.2 x what it holds on to: resident memory must come to a plateau, and every
 * answer must be right. The JVM's heap should be of one size and touched, so that what grows is not the heap.
 *
 * <pre>Server SECONDS [MILLISECONDS between two questions of a client]</pre>
 */
public final class Server {
    private static final int CLIENTS = 8;
    private static final int WARM_SECONDS = 10;
    private static final double BUDGET_SHARE = 1.2;
    private static final double TOLERANCE = 1e-5;
    private static final int SAMPLES = 3600;
    private static final double MB = 1 << 20;
    private static final float[][] WEIGHTS = new float[CarelessServer.SIZES.length - 1][];

    static {
        Arrays.setAll(WEIGHTS, CarelessServer::weights);
    }

    private final HttpClient http = HttpClient.newHttpClient();
    private final AtomicLong right = new AtomicLong();
    private final AtomicLong wrong = new AtomicLong();
    private final int port;
    private final int pause;
    private int faults;

    private Server(int port, int pause) {
        this.port = port;
        this.pause = pause;
    }

    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        int pause = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        Ebb.reclaim(true);
        int faults;
        try (CarelessServer server = new CarelessServer()) {
            faults = new Server(server.port(), pause).run(seconds);
        }
        System.exit(faults == 0 ? 0 : 1);
    }

    private int run(int seconds) throws InterruptedException {
        load(WARM_SECONDS, new ArrayList<>());
        Ebb.collect();
        long held = Ebb.memory().liveBytes();
        long budget = (long) Math.ceil(BUDGET_SHARE * held);
        Ebb.budget(Device.cpu(), budget);
        System.out.printf(Locale.ROOT, "server, %d s, %.1f MB held, budget %.1f MB%n", seconds, held / MB, budget / MB);
        List<Long> resident = new ArrayList<>();
        load(seconds, resident);
        judge(resident, seconds >= 3600 ? 0.02 : 0.05);
        return faults;
    }

    private void load(int seconds, List<Long> resident) throws InterruptedException {
        long start = System.nanoTime();
        long end = start + seconds * 1_000_000_000L;
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            Random random = new Random(i);
            clients.add(new Thread(() -> ask(random, end)));
        }
        clients.forEach(Thread::start);
        for (int i = 1; i <= SAMPLES; i++) {
            Thread.sleep(Math.max(0, (start + i * (end - start) / SAMPLES - System.nanoTime()) / 1_000_000));
            resident.add(Resident.now());
            if (seconds > WARM_SECONDS && i % (SAMPLES / 10) == 0) {
                System.out.printf(Locale.ROOT, "  %d answers, %d wrong, %.1f MB resident%n",
                        right.get() + wrong.get(), wrong.get(), Resident.now() / MB);
            }
        }
        for (Thread client : clients) {
            client.join();
        }
    }

    private void ask(Random random, long end) {
        try {
            for (int i = 0; System.nanoTime() < end; i++) {
                boolean good = i % 50 == 49 ? isRefused(random) : i % 3 == 0 ? isRow(random, i) : isPredicted(random);
                (good ? right : wrong).incrementAndGet();
                Thread.sleep(pause);
            }
        } catch (IOException | InterruptedException e) {
            System.out.println("a client ended: " + e);
            wrong.incrementAndGet();
        }
    }

    private boolean isRefused(Random random) throws IOException, InterruptedException {
        return answer("/fails", new float[1 + random.nextInt(100)]) == null;
    }

    private boolean isRow(Random random, int i) throws IOException, InterruptedException {
        float[] question = new float[2 + random.nextInt(32)];
        float[] expected = new float[(question.length - 1) * CarelessServer.COLUMNS];
        question[0] = i % CarelessServer.PARTS;
        for (int k = 0; k < expected.length; k++) {
            int place = k / CarelessServer.COLUMNS + 1;
            int column = k % CarelessServer.COLUMNS;
            if (column == 0) {
                question[place] = random.nextInt(CarelessServer.ROWS);
            }
            expected[k] = CarelessServer.entry((int) question[0], (int) question[place], column);
        }
        return isNear(expected, answer("/table", question));
    }

    private boolean isPredicted(Random random) throws IOException, InterruptedException {
        int inputs = CarelessServer.SIZES[0];
        float[] question = new float[inputs * (1 + random.nextInt(32))];
        for (int i = 0; i < question.length; i++) {
            question[i] = random.nextFloat() - 0.5f;
        }
        int rows = question.length / inputs;
        double[][] expected = new double[rows][];
        for (int row = 0; row < rows; row++) {
            expected[row] = predicted(Arrays.copyOfRange(question, row * inputs, (row + 1) * inputs));
        }
        float[] flat = new float[rows * expected[0].length];
        for (int i = 0; i < flat.length; i++) {
            flat[i] = (float) expected[i / expected[0].length][i % expected[0].length];
        }
        return isNear(flat, answer("/network", question));
    }

    /** What the network answers to one row, in plain Java. */
    private static double[] predicted(float[] row) {
        double[] x = new double[row.length];
        Arrays.setAll(x, i -> row[i]);
        for (int layer = 0; layer + 1 < CarelessServer.SIZES.length; layer++) {
            float[] weights = WEIGHTS[layer];
            int outputs = CarelessServer.SIZES[layer + 1];
            boolean last = layer + 2 == CarelessServer.SIZES.length;
            double[] y = new double[outputs];
            for (int k = 0; k < outputs; k++) {
                for (int i = 0; i < x.length; i++) {
                    y[k] += x[i] * weights[i * outputs + k];
                }
                y[k] = last ? Math.exp(y[k]) : Math.max(0, y[k]);
            }
            x = y;
        }
        double total = Arrays.stream(x).sum();
        double[] shares = x;
        Arrays.setAll(shares, i -> shares[i] / total);
        return shares;
    }

    private static boolean isNear(float[] expected, float[] answered) {
        if (answered == null || answered.length != expected.length) {
            return false;
        }
        for (int i = 0; i < expected.length; i++) {
            if (!(Math.abs(expected[i] - answered[i]) <= TOLERANCE)) {
                return false;
            }
        }
        return true;
    }

    /** Null: the server said that it failed. */
    private float[] answer(String path, float[] question) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .POST(HttpRequest.BodyPublishers.ofByteArray(bytesOf(question)))
                .build();
        HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            return null;
        }
        float[] values = new float[response.body().length / Float.BYTES];
        ByteBuffer.wrap(response.body()).asFloatBuffer().get(values);
        return values;
    }

    static byte[] bytesOf(float[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES);
        bytes.asFloatBuffer().put(values);
        return bytes.array();
    }

    private void judge(List<Long> resident, double share) {
        expect(right.get() > 0 && wrong.get() == 0, right + " answers right, " + wrong + " wrong");
        double[] most = new double[4];
        double[] mean = new double[4];
        for (int i = 0; i < 4; i++) {
            List<Long> quarter = resident.subList(resident.size() * i / 4, resident.size() * (i + 1) / 4);
            most[i] = quarter.stream().mapToLong(Long::longValue).max().orElseThrow() / MB;
            mean[i] = quarter.stream().mapToLong(Long::longValue).average().orElseThrow() / MB;
        }
        expect(most[3] <= most[1] * (1 + share), String.format(Locale.ROOT,
                "resident memory by quarter: at most %s MB, mean %s MB; last / second %.3f x",
                listed(most), listed(mean), most[3] / most[1]));
        Ebb.collect();
        Memory memory = Ebb.memory();
        int kept = CarelessServer.PARTS + WEIGHTS.length + CarelessServer.CACHED;
        expect(memory.live() <= kept, memory.live() + " arrays live once quiet, " + memory.created() + " created");
        Ebb.audit();
    }

    private static String listed(double[] values) {
        return Arrays.stream(values).mapToObj(value -> String.format(Locale.ROOT, "%.1f", value))
                .collect(Collectors.joining(", "));
    }

    private void expect(boolean ok, String text) {
        faults += ok ? 0 : 1;
        System.out.println((ok ? "ok    " : "FAULT ") + text);
    }
}
