package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.books.Stripe;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The JNI library: Ebb's core behind {@code ebb.h}. */
public final class Native {

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

    public static native int deviceOpen(String name, long budget, boolean strict);

    public static native void deviceBudget(int device, long bytes, boolean strict);

    public static native long memoryLimit();

    public static native long parseBytes(String text);

    public static native long regionOpen(String name);

    public static native int siteIntern(String text);

    public static native void adopt(long[] specs, int count, long[] handles);

    /** Of what has been freed; the reason is one of {@link Stripe}'s. */
    public static native void end(long[] handles, int count, int reason);

    public static native void orphan(long[] handles, int count);

    public static native void rebook(long handle, long bytes);

    public static native void attach(long region, long handle);

    /** Drains, keeps every device under its budget and runs the pacing; throws where a strict budget cannot be kept. */
    public static native void safePoint();

    /** The core ends those of which it has had notice; {@link Callbacks#end} deletes them. */
    public static native void drain();

    /** Before a walk over a manager's arrays: collects where such walks have cost more than that. */
    public static native void walk(long manager, int visited);

    public static native String makeRoom(int device, long bytes);

    /** The names of what {@link #memory} tells. */
    public static native String[] columns();

    public static native long[] memory(int device);

    public static native String report(int top, boolean json);

    public static native void reclaim(boolean on);

    public static native void trace(int level);

    static native String audit();

    /** Whether its static fields have their values. */
    public static native boolean isInitialized(Class<?> type);

    /** The C library gives large blocks back at once, and keeps no more than a little of the others; false if it cannot. */
    static native boolean trimMalloc();

    public static native boolean forceCollection();

    public static native boolean awaitReferences();

    /** Whether the JVM has references to hand out still; false where that cannot be asked. */
    public static native boolean referencesArriving();

    /** The buffer, and every view of it, keeps the object reachable from now on; false if this JVM's cannot. */
    static native boolean keepWith(ByteBuffer buffer, Object kept);

    public static native ByteBuffer allocate(long bytes);

    public static native void release(ByteBuffer buffer);

    /** DJL's function that deletes a tensor; 0 if it cannot be told which. */
    public static native long findDelete();

    public static native void deleteAll(long function, Object library, long[] handles, int count, int storageAt);

    public static native int findElements(long[] handles, long[] elements);

    public static native int findType(long[] handles, long[] types);

    public static native int findStorageBytes(long[] handles, long[] bytes);

    public static native long probe(long handle, int elements, int type);

    /** Of the memory behind a tensor; -1 if it has none. */
    public static native long storageBytes(long handle, int place);
}
