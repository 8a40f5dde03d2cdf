package dev.ebb.djl.core.observe;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A heap dump (HPROF, as HotSpot writes it): objects and classes, what is always reachable, and threads' stacks. */
final class HeapDump {

    static final int CLASS = 0x20;
    static final int INSTANCE = 0x21;
    static final int ARRAY = 0x22;
    private static final int PRIMITIVES = 0x23;
    private static final int OBJECT = 2; // a field's type
    private static final int[] SIZES = {0, 0, 8, 0, 1, 2, 4, 8, 1, 2, 4, 8};
    private static final int HEADER = 9;
    private static final int RECENT = 256;
    private static final List<String> PASSED_OVER = List.of("java.", "jdk.", "ai.djl.", "dev.ebb.djl.core.", "dev.ebb.djl.Ebb");

    /** A field that leads to an object: of an instance its place among the bytes, of a class in the file. */
    record Reference(String name, String declaredIn, long at) {}

    /** What is reachable by itself. {@code frame}: of its thread's stack; -1: none. */
    record Root(long id, int thread, int frame) {}

    static final class Type {
        long superId;
        String name;
        long fields; // in the file
        List<Reference> statics;
        List<Reference> references; // of an instance, those of the classes above it included; null: not known yet
        int size; // of an instance's own fields
        List<Long> listed; // places of its instances, where they are wanted
    }

    final HeapFile file;
    final HeapObjects objects = new HeapObjects();
    final Map<Long, Type> types = new HashMap<>();
    final List<Root> roots = new ArrayList<>();
    final Map<Integer, Long> threads = new HashMap<>(); // objects by their serial number
    private final Map<Long, long[]> strings = new HashMap<>(); // place and length
    private final Map<Long, Long> classNames = new HashMap<>();
    private final Map<Integer, Long> classesBySerial = new HashMap<>();
    private final Map<Long, Long> frames = new HashMap<>();
    private final Map<Integer, Long> stacks = new HashMap<>(); // by the thread's serial number
    private final long[] recentIds = new long[RECENT];
    private final Type[] recent = new Type[RECENT];
    private final Map<String, List<Long>> wanted = new HashMap<>(); // places of the instances of some classes

    HeapDump(Path path, String... wantedTypes) throws IOException {
        file = new HeapFile(path);
        for (String type : wantedTypes) {
            wanted.put(type, new ArrayList<>());
        }
        long at = 0;
        while (file.u1(at) != 0) {
            at++;
        }
        if (file.u4(at + 1) != 8) {
            throw new IOException("a dump of a 64-bit JVM is needed");
        }
        for (at += 13; at + HEADER <= file.size; ) {
            long length = file.u4(at + 5);
            record(file.u1(at), at + HEADER, length);
            at += HEADER + length;
        }
        objects.index();
    }

    /** Places of the instances of a class that was wanted. */
    List<Long> instancesOf(String type) {
        return wanted.get(type);
    }

    private void record(int tag, long at, long length) {
        switch (tag) {
            case 0x01 -> strings.put(file.id(at), new long[] {at + 8, length - 8});
            case 0x02 -> {
                classesBySerial.put(file.s4(at), file.id(at + 4));
                classNames.put(file.id(at + 4), file.id(at + 16));
            }
            case 0x04 -> frames.put(file.id(at), at);
            case 0x05 -> stacks.put(file.s4(at + 4), at);
            case 0x0c, 0x1c -> segment(at, at + length);
            default -> {}
        }
    }

    private void segment(long at, long end) {
        while (at < end) {
            int kind = file.u1(at++);
            at = switch (kind) {
                case 0xff, 0x05, 0x07 -> root(at, 8, -1, -1);
                case 0x01 -> root(at, 16, -1, -1);
                case 0x02, 0x03 -> root(at, 16, file.s4(at + 8), file.s4(at + 12));
                case 0x04, 0x06 -> root(at, 12, file.s4(at + 8), 0);
                case 0x08 -> {
                    threads.put(file.s4(at + 8), file.id(at));
                    yield root(at, 16, -1, -1);
                }
                case CLASS -> type(at);
                case INSTANCE -> instance(at);
                case ARRAY -> array(at);
                case PRIMITIVES -> at + 17 + file.u4(at + 12) * SIZES[file.u1(at + 16)];
                default -> throw new IllegalStateException("an unknown part of a heap dump: " + kind);
            };
        }
    }

    private long root(long at, int length, int thread, int frame) {
        roots.add(new Root(file.id(at), thread, frame));
        return at + length;
    }

    private long type(long at) {
        Type type = new Type();
        type.superId = file.id(at + 12);
        Long name = classNames.get(file.id(at));
        type.name = name == null ? "?" : string(name).replace('/', '.');
        type.listed = wanted.get(type.name);
        types.put(file.id(at), type);
        objects.add(file.id(at), at - 1);
        long next = at + 64; // after the ids, the size of an instance
        int constants = file.u2(next);
        next += 2;
        for (int i = 0; i < constants; i++) {
            next += 3 + SIZES[file.u1(next + 2)];
        }
        int statics = file.u2(next);
        next += 2;
        type.statics = new ArrayList<>(0);
        for (int i = 0; i < statics; i++) {
            int kind = file.u1(next + 8);
            if (kind == OBJECT) {
                type.statics.add(new Reference(string(file.id(next)), type.name, next + 9));
            }
            next += 9 + SIZES[kind];
        }
        type.fields = next;
        int fields = file.u2(next);
        for (int i = 0; i < fields; i++) {
            type.size += SIZES[file.u1(next + 2 + 9L * i + 8)];
        }
        return next + 2 + 9L * fields;
    }

    private long instance(long at) {
        Type type = typeOf(file.id(at + 12)); // classes come before instances
        if (type != null) {
            if (type.listed != null) {
                type.listed.add(at - 1);
            }
            if (type.listed != null || !references(type).isEmpty()) {
                objects.add(file.id(at), at - 1);
            }
        }
        return at + 24 + file.u4(at + 20);
    }

    private long array(long at) {
        objects.add(file.id(at), at - 1);
        return at + 24 + 8 * file.u4(at + 12);
    }

    // ---- what is in it

    String string(long id) {
        long[] place = strings.get(id);
        return place == null ? "?" : file.text(place[0], (int) place[1]);
    }

    /** Of the instance, array or class at this place. */
    Type typeAt(long place) {
        return typeOf(file.id(place + (file.u1(place) == ARRAY ? 17 : 13)));
    }

    /** Most objects are of a few types. */
    private Type typeOf(long id) {
        int slot = (int) (id >>> 4) & RECENT - 1;
        if (recentIds[slot] != id || recent[slot] == null) {
            recentIds[slot] = id;
            recent[slot] = types.get(id);
        }
        return recent[slot];
    }

    /** The fields of an instance that lead to objects, and keep them. */
    List<Reference> references(Type type) {
        if (type.references == null) {
            type.references = new ArrayList<>();
            long offset = 0;
            boolean soft = isA(type, "java.lang.ref.SoftReference");
            for (Type each = type; each != null; each = types.get(each.superId)) {
                offset = addFields(each, offset, soft, type.references);
            }
        }
        return type.references;
    }

    private long addFields(Type type, long offset, boolean soft, List<Reference> to) {
        int count = file.u2(type.fields);
        for (int i = 0; i < count; i++) {
            long field = type.fields + 2 + 9L * i;
            int kind = file.u1(field + 8);
            if (kind == OBJECT) {
                String name = string(file.id(field));
                boolean weak = name.equals("referent") && type.name.equals("java.lang.ref.Reference") && !soft;
                if (!weak) {
                    to.add(new Reference(name, type.name, offset));
                }
            }
            offset += SIZES[kind];
        }
        return offset;
    }

    boolean isA(Type type, String name) {
        for (Type each = type; each != null; each = types.get(each.superId)) {
            if (each.name.equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Where in the file the value of a field of the instance at this place is. */
    long valueOf(long place, String name, String declaredIn) {
        long at = place + 25;
        for (Type each = typeAt(place); each != null; each = types.get(each.superId)) {
            int count = file.u2(each.fields);
            for (int i = 0; i < count; i++) {
                long field = each.fields + 2 + 9L * i;
                if (each.name.equals(declaredIn) && string(file.id(field)).equals(name)) {
                    return at;
                }
                at += SIZES[file.u1(field + 8)];
            }
        }
        throw new IllegalStateException("no field " + name + " of " + declaredIn);
    }

    /** The method of a thread's stack that a root is in, or the first of the program's that led to it. */
    String method(int thread, int frame) {
        Long stack = stacks.get(thread);
        String first = null;
        int depth = stack == null ? 0 : file.s4(stack + 8);
        for (int i = Math.max(0, frame); i < depth; i++) {
            Long at = frames.get(file.id(stack + 12 + 8L * i));
            Type type = at == null ? null : types.get(classesBySerial.getOrDefault(file.s4(at + 32), 0L));
            if (type != null) {
                String text = method(type, at);
                first = first == null ? text : first;
                if (PASSED_OVER.stream().noneMatch(type.name::startsWith)) {
                    return text;
                }
            }
        }
        return first == null ? "a thread" : first;
    }

    private String method(Type type, long frame) {
        return simple(type.name)
                + "."
                + string(file.id(frame + 8))
                + " ("
                + string(file.id(frame + 24))
                + ":"
                + file.s4(frame + 36)
                + ")";
    }

    /** Without the package. */
    static String simple(String name) {
        if (name.startsWith("[L")) {
            return simple(name.substring(2, name.length() - 1)) + "[]";
        }
        return name.startsWith("[") ? "array" : name.substring(name.lastIndexOf('.') + 1);
    }
}
