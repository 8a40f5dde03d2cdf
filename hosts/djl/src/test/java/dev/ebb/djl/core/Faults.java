package dev.ebb.djl.core;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.Recording;
import dev.ebb.djl.core.books.Books;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Calls of JNI and JVMTI fail, each in turn, once and for ever: the program gets an error or a right value, the books balance,
 * nothing is left behind, and the program goes on. Needs the jar with the native part that can be told to fail.
 */
public final class Faults {
    private static final int MOST = 5000; // points of one scenario
    private static final int MANY = 300; // more than a batch of the books has

    private static NDManager manager;
    private static Path folder;
    private static int faults;

    private Faults() {}

    /** The nth call from now on fails, of this thread. */
    private static native void failAt(long n, boolean andLater);

    /** How many have; none does from then on. */
    private static native long failed();

    private static native int load();

    /** The next {@code open} is a first one; false: everything is what it was. */
    private static native void forget(boolean now);

    private interface Work {
        void run() throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        folder = Files.createTempDirectory("ebb-faults");
        Ebb.reclaim(true);
        manager = NDManager.newBaseManager();
        int points = 0;
        for (Map.Entry<String, Work> scenario : scenarios().entrySet()) {
            points += failInTurn(scenario.getKey(), scenario.getValue());
        }
        System.out.println("points=" + points);
        System.out.println("faults=" + faults);
        System.exit(faults == 0 ? 0 : 1);
    }

    private static Map<String, Work> scenarios() {
        Map<String, Work> all = new LinkedHashMap<>();
        all.put("books", Faults::books);
        all.put("closed", Faults::closed);
        all.put("dropped", Faults::dropped);
        all.put("dropped, booked", Faults::droppedAndBooked);
        all.put("data", Faults::data);
        all.put("traced", Faults::traced);
        all.put("recorded", Faults::recorded);
        all.put("budget", Faults::budget);
        all.put("buffers", Faults::buffers);
        all.put("start", Faults::start);
        return all;
    }

    private static int failInTurn(String name, Work work) throws Exception {
        work.run();
        work.run();
        Map<String, Integer> tables = tablesWhenQuiet();
        long live = Ebb.memory().live();
        int points = 0;
        for (boolean andLater : new boolean[] {false, true}) {
            for (int n = 1; n < MOST; n++) {
                String where = name + ", call " + n + (andLater ? " and later" : "");
                before = 0;
                failAt(n, andLater);
                Throwable thrown = thrownBy(work);
                long failed = before + failed();
                judge(where, thrown, failed);
                if (failed == 0) {
                    break;
                }
                points++;
            }
        }
        work.run();
        Map<String, Integer> after = tablesWhenQuiet();
        expect(after.equals(tables), name + ": tables " + tables + " before, " + after + " after");
        long left = Ebb.memory().live() - live;
        expect(left == 0, name + ": " + left + " arrays left");
        System.out.println("  " + name + ": " + points + " points");
        return points;
    }

    private static Throwable thrownBy(Work work) {
        try {
            work.run();
            return null;
        } catch (Throwable e) {
            return e;
        }
    }

    private static void judge(String where, Throwable thrown, long failed) {
        if (thrown instanceof AssertionError || (thrown != null && failed == 0)) {
            expect(false, where + ": " + thrown);
        }
        try {
            Ebb.audit();
        } catch (RuntimeException e) {
            expect(false, where + ": " + e);
        }
    }

    private static void expect(boolean so, String what) {
        if (!so) {
            faults++;
            System.out.println("FAULT " + what);
        }
    }

    private static Map<String, Integer> tablesWhenQuiet() {
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
        }
        Books.flush();
        return EbbRuntime.tables();
    }

    private static void isSo(boolean so, String what) {
        if (!so) {
            throw new AssertionError(what);
        }
    }

    // ---- scenarios

    private static void books() {
        isSo(Ebb.memory().created() >= Ebb.memory().live(), "more live than made");
        isSo(!Ebb.report(3).isEmpty() && Ebb.reportJson(3).startsWith("{"), "a report");
        Ebb.metrics();
        Ebb.audit();
    }

    private static void closed() {
        try (NDManager sub = manager.newSubManager()) {
            List<NDArray> arrays = new ArrayList<>();
            for (int i = 0; i < MANY; i++) {
                arrays.add(sub.full(new Shape(2), (float) i));
            }
            Books.flush();
            for (int i = 0; i < MANY; i += 2) {
                isSo(arrays.get(i).getFloat(1) == i, "a value");
                arrays.get(i).close();
            }
            arrays.get(1).attach(manager);
            arrays.get(1).close();
        }
        Books.flush();
    }

    private static void dropped() {
        for (int i = 0; i < 20; i++) {
            isSo(manager.full(new Shape(3), (float) i).add(1).getFloat(2) == i + 1, "a value");
        }
        Ebb.collect();
    }

    private static void droppedAndBooked() {
        for (int i = 0; i < MANY; i++) {
            manager.full(new Shape(3), (float) i);
        }
        Books.flush();
        Ebb.collect();
    }

    private static void data() {
        float[] values = new float[50_000];
        values[49_999] = 7;
        NDArray array = manager.create(values);
        ByteBuffer view = array.toByteBuffer();
        isSo(array.toFloatArray()[49_999] == 7 && view.order(java.nio.ByteOrder.nativeOrder()).getFloat(4 * 49_999) == 7, "data");
        array.close();
        manager.create(new int[] {1, 2, 3}).close();
    }

    private static void traced() {
        Ebb.trace(true);
        try {
            NDArray array = manager.ones(new Shape(4));
            isSo(Ebb.report(5) != null, "a report");
            array.close();
            Native.siteText(Native.siteIntern("a place"));
            Native.sitesWith("Faults");
            Native.passOver(new String[] {"ai.djl.", "dev.ebb.djl.core.", "dev.ebb.djl.hooks.", "java.", "jdk.", "sun."});
            Native.isInitialized(Faults.class);
        } finally {
            cleanUp(() -> Ebb.trace(false));
        }
    }

    private static void recorded() throws IOException {
        Path file = folder.resolve("recording");
        Recording recording = Ebb.record(file.toString(), "full", null);
        try {
            manager.ones(new Shape(4)).close();
            recording.mark("here");
            Native.recordInfo();
        } finally {
            cleanUp(recording::close);
        }
        Files.deleteIfExists(file);
    }

    private static int device;

    private static void budget() {
        if (device == 0) {
            device = Native.deviceOpen("faults", 1 << 20, false);
        }
        Native.deviceDescribe(device);
        Native.parseBytes("1MB");
        Native.regionOpen("a region");
        long[] specs = {4 << 20, 0, device, 0};
        long[] handles = new long[1];
        Native.deviceBudget(device, 1 << 20, true);
        Native.adopt(specs, 1, handles);
        try {
            Native.makeRoom(device, 1 << 20);
            Native.safePoint(); // past a hard budget: the ladder, then the error
        } catch (RuntimeException e) {
            isSo(e.getMessage() != null, "an error that says nothing");
        } finally {
            cleanUp(() -> Native.end(handles, handles[0] == 0 ? 0 : 1, 0));
        }
    }

    private static void buffers() {
        ByteBuffer buffer = Native.allocate(1 << 20);
        try {
            Native.keepWith(ByteBuffer.allocateDirect(8), new Object());
        } finally {
            cleanUp(() -> Native.release(buffer));
        }
    }

    private static void start() throws Exception {
        var open = Native.class.getDeclaredMethod("open");
        open.setAccessible(true);
        load();
        forget(true);
        try {
            open.invoke(null);
        } finally {
            cleanUp(() -> forget(false));
        }
    }

    // ---- what cleans up after a scenario is not part of it

    private static long before; // what had failed until then

    private static void cleanUp(Work work) {
        before += failed();
        try {
            work.run();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
