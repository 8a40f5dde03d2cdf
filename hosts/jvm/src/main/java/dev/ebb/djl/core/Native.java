package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The JNI library: Ebb's core behind {@code ebb.h}. */
final class Native {

    /** Places in what {@link #memory} fills in. */
    static final int CREATED = 0;

    static final int LIVE = 1;
    static final int DISPOSED = 2;
    static final int REGION_ENDED = 3;
    static final int RECLAIMED = 4;
    static final int SHUTDOWN = 5;
    static final int ORPHANS = 6;
    static final int CREATED_BYTES = 7;
    static final int LIVE_BYTES = 8;
    static final int DISPOSED_BYTES = 9;
    static final int REGION_ENDED_BYTES = 10;
    static final int RECLAIMED_BYTES = 11;
    static final int SHUTDOWN_BYTES = 12;
    static final int PEAK_LIVE = 13;
    static final int PEAK_LIVE_BYTES = 14;
    static final int COLLECTIONS = 15;
    static final int COLLECT_NANOS = 16;
    static final int LONGEST_COLLECT_NANOS = 17;
    static final int READING = 18;

    private static final String LIBRARY = "libebb_jni.so";

    private Native() {}

    /** Loads the library from the jar and opens the context. Throws an {@link EbbException} that says what to do. */
    static void load() {
        String platform = platform();
        String resource = "/dev/ebb/djl/native/" + platform + "/" + LIBRARY;
        try (InputStream library = Native.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new EbbException(
                        "this ebb-djl jar has no library for "
                                + platform
                                + " (only Linux is supported); build one there with tools/build_jvm.sh");
            }
            System.load(extract(library).toString());
            open();
        } catch (IOException | UnsatisfiedLinkError e) {
            throw new EbbException(
                    "the native library could not be loaded: "
                            + e.getMessage()
                            + "; if the temporary folder may not hold programs, set -Djava.io.tmpdir");
        }
    }

    private static String platform() {
        String system = System.getProperty("os.name", "").toLowerCase(java.util.Locale.ROOT);
        String machine = System.getProperty("os.arch", "");
        String processor = machine.equals("amd64") ? "x86_64" : machine;
        return (system.startsWith("linux") ? "linux" : system.replace(' ', '_')) + "-" + processor;
    }

    /** A loaded library needs no file: it is deleted when the JVM ends. */
    private static Path extract(InputStream library) throws IOException {
        Path file = Files.createTempFile("libebb_jni", ".so");
        file.toFile().deleteOnExit();
        Files.copy(library, file, StandardCopyOption.REPLACE_EXISTING);
        return file;
    }

    private static native void open();

    static native int deviceOpen(String name, long budget, boolean strict);

    static native void deviceBudget(int device, long bytes, boolean strict);

    static native long memoryLimit();

    static native long parseBytes(String text);

    static native long regionOpen(String name);

    static native int siteIntern(String text);

    static native void adopt(long[] specs, int count, long[] handles);

    static native void dispose(long[] handles, int count);

    static native void endWithRegion(long[] handles, int count);

    static native void orphan(long[] handles, int count);

    static native void rebook(long handle, long bytes);

    static native void attach(long region, long handle);

    static native int safePoint(int device, long upcoming);

    static native int collect(boolean rationed);

    static native String makeRoom(int device, long bytes);

    static native void memory(long[] reading);

    static native String report(int top, boolean json);

    static native void reclaim(boolean on);

    static native void trace(int level);

    static native String audit();

    static native boolean forceCollection();

    static native boolean awaitReferences();

    /** Whether the JVM has references to hand out still; false where that cannot be asked. */
    static native boolean referencesArriving();

    static native ByteBuffer allocate(long bytes);

    static native void release(ByteBuffer buffer);

    /** DJL's function that deletes a tensor; 0 if it cannot be told which. */
    static native long findDelete();

    static native void deleteAll(long function, Object library, long[] handles, int count, int storageAt);

    static native int findElements(long[] handles, long[] elements);

    static native int findType(long[] handles, long[] types);

    static native int findStorageBytes(long[] handles, long[] bytes);

    static native long probe(long handle, int elements, int type);

    /** Of the memory behind a tensor; -1 if it has none. */
    static native long storageBytes(long handle, int place);
}
