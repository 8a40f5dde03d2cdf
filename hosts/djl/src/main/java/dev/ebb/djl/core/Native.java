package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.books.Stripe;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The JNI library: Ebb's core behind {@code ebb.h}. */
public final class Native {

    private Native() {}

    /** Loads the library from the jar and opens the context. Throws an {@link EbbException} that says what to do. */
    static void load() {
        try {
            System.load(unpack("libebb_jni", ".so").toString());
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
        if (!system.startsWith("linux")) {
            return system.replace(' ', '_') + "-" + processor;
        }
        return "linux-" + processor + (isMusl() ? "-musl" : "");
    }

    /** Whether this JVM runs on musl: then musl's loader is among the files it has mapped. */
    private static boolean isMusl() {
        try {
            return Files.readString(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1).contains("/ld-musl-");
        } catch (IOException e) {
            return false;
        }
    }

    /** A native part of the jar, as a file that is deleted when the JVM ends. */
    public static Path unpack(String name, String suffix) throws IOException {
        String platform = platform();
        try (InputStream part = Native.class.getResourceAsStream("/dev/ebb/djl/native/" + platform + "/" + name + suffix)) {
            if (part == null) {
                throw new EbbException(
                        "this ebb-djl jar has no "
                                + (suffix.isEmpty() ? "tool " + name : "library")
                                + " for "
                                + platform
                                + " (released jars have those of Linux on x86-64 and arm64); build one there with tools/build_jvm.sh");
            }
            Path file = Files.createTempFile(name, suffix);
            file.toFile().deleteOnExit();
            Files.copy(part, file, StandardCopyOption.REPLACE_EXISTING);
            return file;
        }
    }

    private static native void open();

    public static native int deviceOpen(String name, long budget, boolean strict);

    public static native void deviceBudget(int device, long bytes, boolean strict);

    /** In use, committed, the most that was committed, and the budget. */
    public static native long[] deviceDescribe(int device);

    public static native long memoryLimit();

    public static native long parseBytes(String text);

    public static native long regionOpen(String name);

    /** Classes whose names begin so are not the program's. */
    public static native void passOver(String[] prefixes);

    /** The site of this stack; 0: none of its frames is the program's; -1: it cannot be walked. */
    public static native int siteHere(int frames);

    public static native int siteIntern(String text);

    public static native String siteText(int site);

    /** Those whose text has this in it. */
    public static native int[] sitesWith(String part);

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

    public static native void recordStart(String file, String program, int mode, long most);

    public static native void recordMode(int mode);

    public static native void recordMark(String text);

    public static native void recordStop();

    /** What holds the arrays of a site, for those who read the recording. */
    public static native void recordHolder(int site, String text);

    /** What viewers wish, once: bit N is {@code ebb_asked} N. */
    public static native int liveAsked();

    /** Bytes, events, lost events, whether it gave up (1), and its mode. */
    public static native long[] recordInfo();

    /** Whether the recording wants the site of an array of so many bytes. */
    public static native boolean wantsSite(long bytes);

    public static native void hostHeap(long bytes);

    /** Whether its static fields have their values. */
    public static native boolean isInitialized(Class<?> type);

    /** The C library gives large blocks back at once, and keeps no more than a little of the others; false if it cannot. */
    static native boolean trimMalloc();

    public static native boolean forceCollection();

    public static native boolean awaitReferences();

    /** Whether the JVM has references to hand out still; false where that cannot be asked. */
    public static native boolean referencesArriving();

    /** Whether objects wait for their finalizer to be called; false where that cannot be asked. */
    public static native boolean finalizersPending();

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
