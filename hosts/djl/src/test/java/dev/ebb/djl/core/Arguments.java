package dev.ebb.djl.core;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** Arguments at the border, most of them wrong. */
final class Arguments {
    private static final long[] EDGES = edges();
    private static final int[] LENGTHS = {0, 1, 2, 255, 256, 257, 1023, 1024, 1025};
    private static final String[] TEXTS = {
        "", "x", "cpu()", "1GB", "64 MiB", "-1", "99999999999999999999", "\0", "a\0b", "\ud800", "\ud83d\ude00", "é".repeat(70_000)
    };
    private static final String[] PREFIXES = {"java.", "ai.djl.", "", "no.such."};

    /** Of what stays for ever, or makes the JVM collect: one call of so many is made. */
    private static final Map<String, Integer> RARE =
            Map.of("deviceOpen", 500, "regionOpen", 100, "siteIntern", 20, "makeRoom", 200, "forceCollection", 500,
                    "walk", 50, "recordStart", 50, "awaitReferences", 20, "safePoint", 5);

    /** Here an address leads straight into the engine's memory. */
    private static final Set<String> BELIEVING = Set.of("probe", "storageBytes", "deleteAll");

    private final Random random;
    private final Names names;

    Arguments(Random random, Names names) {
        this.random = random;
        this.names = names;
    }

    private static long[] edges() {
        long[] edges = new long[5 * 6];
        int[] powers = {8, 31, 32, 52, 63, 16};
        for (int i = 0; i < edges.length; i++) {
            edges[i] = (1L << powers[i / 5]) + i % 5 - 2;
        }
        return edges;
    }

    boolean allows(String method) {
        return random.nextInt(RARE.getOrDefault(method, 1)) == 0;
    }

    Object[] of(Method method) {
        Class<?>[] types = method.getParameterTypes();
        Object[] given = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            given[i] = BELIEVING.contains(method.getName()) ? believed(method.getName(), i, types[i]) : any(types[i]);
        }
        if (method.getName().equals("recordStart")) {
            given[0] = file();
        }
        if (method.getName().equals("adopt") && random.nextInt(3) > 0) {
            sensible(given);
        }
        return given;
    }

    private Object any(Class<?> type) {
        if (type == boolean.class) {
            return random.nextBoolean();
        } else if (type == int.class) {
            return (int) number();
        } else if (type == long.class) {
            return number();
        } else if (random.nextInt(8) == 0) {
            return null;
        } else if (type == String.class) {
            return TEXTS[random.nextInt(TEXTS.length)];
        } else if (type == long[].class) {
            return longs();
        } else if (type == String[].class) {
            return prefixes();
        } else if (type == ByteBuffer.class) {
            return buffer();
        } else if (type == Class.class) {
            return random.nextBoolean() ? int.class : Border.class;
        }
        return type == Object.class ? this : null;
    }

    private long number() {
        switch (random.nextInt(6)) {
            case 0:
                return random.nextInt(8) - 3;
            case 1:
                return EDGES[random.nextInt(EDGES.length)];
            case 2:
                return -EDGES[random.nextInt(EDGES.length)];
            case 3:
                return names.handle(random.nextInt());
            case 4:
                return names.other(random.nextInt()) instanceof Number known ? known.longValue() : 1;
            default:
                return random.nextLong();
        }
    }

    private long[] longs() {
        long[] values = new long[LENGTHS[random.nextInt(LENGTHS.length)]];
        for (int i = 0; i < values.length; i++) {
            values[i] = number();
        }
        return values;
    }

    private String[] prefixes() {
        String[] values = new String[random.nextInt(3)];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextInt(8) == 0 ? null : PREFIXES[random.nextInt(PREFIXES.length)];
        }
        return values;
    }

    /** Ebb's, back already perhaps, or a view of it; or the program's own. */
    private ByteBuffer buffer() {
        Object made = names.other(random.nextInt());
        if (made instanceof ByteBuffer known && random.nextInt(4) > 0) {
            return random.nextInt(4) == 0 ? known.duplicate() : known;
        }
        return random.nextBoolean() ? ByteBuffer.allocate(random.nextInt(64)) : ByteBuffer.allocateDirect(random.nextInt(64));
    }

    private String file() {
        String[] some = {null, "", "/", names.folder + "/recording", names.folder + "/none/such", names.folder + "/\0", "%n-%p"};
        String chosen = some[random.nextInt(some.length)];
        return "%n-%p".equals(chosen) ? names.folder + "/" + chosen : chosen;
    }

    /** Births as there might be some, so that there are handles. */
    private void sensible(Object[] given) {
        int count = 1 + random.nextInt(8);
        long[] specs = new long[4 * count];
        for (int i = 0; i < count; i++) {
            specs[4 * i] = random.nextInt(1 << 16);
            specs[4 * i + 2] = 1;
            specs[4 * i + 3] = random.nextInt(6) == 0 ? -1 - random.nextInt(4) : random.nextInt(1 << 20);
        }
        given[0] = specs;
        given[1] = count;
        given[2] = new long[count];
    }

    private Object believed(String method, int place, Class<?> type) {
        if (method.equals("deleteAll")) {
            return place == 0 && random.nextBoolean() ? (Object) Native.findDelete() : type == long[].class ? zeros() : any(type);
        }
        return place == 0 ? (random.nextBoolean() ? names.tensor() : 0L) : any(type);
    }

    private long[] zeros() {
        return random.nextInt(8) == 0 ? null : new long[LENGTHS[random.nextInt(LENGTHS.length)]];
    }
}
