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

    /** Of what has been freed; the reason is one of {@link Stripe}'s. */
    static native void end(long[] handles, int count, int reason);

    static native void orphan(long[] handles, int count);

    static native void rebook(long handle, long bytes);

    static native void attach(long region, long handle);

    static native int safePoint(int device, long upcoming);

    /** The core ends those of which it has had notice; {@link Callbacks#end} deletes them. */
    static native void drain();

    static native int collect(boolean rationed);

    static native String makeRoom(int device, long bytes);

    /** The names of what {@link #memory} tells. */
    static native String[] columns();

    static native long[] memory();

    static native String report(int top, boolean json);

    static native void reclaim(boolean on);

    static native void trace(int level);

    static native String audit();

    /** Whether its static fields have their values. */
    static native boolean isInitialized(Class<?> type);

    /** The C library gives large blocks back at once, and keeps no more than a little of the others; false if it cannot. */
    static native boolean trimMalloc();

    static native boolean forceCollection();

    static native boolean awaitReferences();

    /** Whether the JVM has references to hand out still; false where that cannot be asked. */
    static native boolean referencesArriving();

    /** The buffer, and every view of it, keeps the object reachable from now on; false if this JVM's cannot. */
    static native boolean keepWith(ByteBuffer buffer, Object kept);

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
