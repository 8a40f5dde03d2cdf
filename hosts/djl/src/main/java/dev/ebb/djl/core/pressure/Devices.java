package dev.ebb.djl.core.pressure;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.books.Stripe;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** DJL's devices as the core's, and their budgets. */
public final class Devices {

    /** Of what the process may use, the share that arrays get unless the user says otherwise. */
    private static final int DEFAULT_SHARE = 2;

    private static final ConcurrentHashMap<String, Integer> IDS = new ConcurrentHashMap<>();
    private static final ConcurrentHashMap<String, Long> BUDGETS = new ConcurrentHashMap<>();
    private static volatile long usual; // 0: a share of what the process may use
    private static volatile boolean strict;
    private static volatile boolean several; // in use, or given a budget

    private Devices() {}

    /** The core's device for DJL's, by DJL's text for it. */
    public static int idOf(String device) {
        Integer id = IDS.get(device);
        return id != null ? id : IDS.computeIfAbsent(device, Devices::open);
    }

    /** Null: the one that is given. */
    public static int idOf(String device, int usually) {
        return device == null ? usually : idOf(device);
    }

    /** Whether arrays may be on another device than their manager. */
    public static boolean several() {
        return several;
    }

    /** DJL's text for each, and the core's number. */
    public static Map<String, Integer> all() {
        return IDS;
    }

    /** One of them: where the error does not say which device is full. */
    static int any() {
        return IDS.values().iterator().next();
    }

    private static synchronized int open(String device) {
        several |= !IDS.isEmpty();
        return Native.deviceOpen("djl:" + device, budgetOf(device), strict);
    }

    private static long budgetOf(String device) {
        Long given = BUDGETS.get(device);
        if (given != null) {
            return given;
        }
        return usual != 0 ? usual : Math.max(1, Native.memoryLimit() / DEFAULT_SHARE);
    }

    public static long parse(String text) {
        long bytes;
        try {
            bytes = Native.parseBytes(text == null ? "" : text);
        } catch (IllegalArgumentException e) {
            bytes = 0;
        }
        if (bytes <= 0) {
            throw new IllegalArgumentException(
                    "[budget] '" + text + "' was given, a size such as 2GB, 512 MiB or 1048576 is allowed");
        }
        return bytes;
    }

    public static void budget(String device, String text) {
        BUDGETS.put(device, parse(text));
        several |= !IDS.isEmpty() && !IDS.containsKey(device);
        apply();
    }

    /** Of every device that has none of its own. */
    public static void usualBudget(String text) {
        usual = parse(text);
        apply();
    }

    public static void strict(boolean on) {
        strict = on;
        apply();
    }

    private static synchronized void apply() {
        long given = usual != 0 ? usual : Long.MAX_VALUE;
        for (long budget : BUDGETS.values()) {
            given = Math.min(given, budget);
        }
        for (var entry : IDS.entrySet()) {
            Native.deviceBudget(entry.getValue(), budgetOf(entry.getKey()), strict);
        }
        Stripe.limit(given / 64);
    }
}
