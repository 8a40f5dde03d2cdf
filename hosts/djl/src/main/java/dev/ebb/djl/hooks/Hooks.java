package dev.ebb.djl.hooks;

import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collector;

/**
 * What code woven into DJL calls. DJL has to see it: where its class loader does not see the agent's copy, it gets one of
 * its own ({@code dev.ebb.djl.agent.HookSight}). The work is done by the agent's one {@link Target} in any case.
 */
public final class Hooks {

    /** The other side; see {@code dev.ebb.djl.core.HookTarget}. */
    public interface Target {
        ConcurrentHashMap<String, Object> resources(Object manager, ConcurrentHashMap<String, Object> stock);

        ConcurrentHashMap<String, Object> tempResources(Object manager, ConcurrentHashMap<String, Object> stock);

        void safePoint(Object array);

        void managerClosed(Object manager);

        long ownMemory(long handle, Object manager, ByteBuffer data);

        ByteBuffer alias(ByteBuffer data);

        ByteBuffer stage(Object manager, int capacity);

        void unstage();

        boolean set(Object array, ByteBuffer data);

        ByteBuffer pin(Object array, ByteBuffer view);

        Throwable failed(Throwable thrown, boolean again);

        Throwable explained(Throwable thrown);

        void changed(Object array);

        void closing(Object array);

        IdentityHashMap<Object, Object> scope(IdentityHashMap<Object, Object> stock);

        Collector<Object, ?, List<Object>> listed();

        void aliased(Object array);

        boolean watchesOwners();

        void owned(Object result, Object[] given);
    }

    /** A chain of what has to stay reachable until a woven method returns. */
    private static final class Kept {
        final Object kept;
        final Object others;

        Kept(Object kept, Object others) {
            this.kept = kept;
            this.others = others;
        }
    }

    private static volatile Target target;

    private Hooks() {}

    /** Sets the other side. */
    public static void install(Target other) {
        target = other;
    }

    public static Target target() {
        return target;
    }

    public static ConcurrentHashMap<String, Object> resources(
            Object manager, ConcurrentHashMap<String, Object> stock) {
        return target.resources(manager, stock);
    }

    public static ConcurrentHashMap<String, Object> tempResources(
            Object manager, ConcurrentHashMap<String, Object> stock) {
        return target.tempResources(manager, stock);
    }

    public static void safePoint(Object array) {
        target.safePoint(array);
    }

    public static void managerClosed(Object manager) {
        target.managerClosed(manager);
    }

    public static long ownMemory(long handle, Object manager, ByteBuffer data) {
        return target.ownMemory(handle, manager, data);
    }

    /** What the array made of {@code data} has to keep. */
    public static ByteBuffer alias(ByteBuffer data) {
        return target.alias(data);
    }

    public static void aliased(Object array) {
        target.aliased(array);
    }

    public static ByteBuffer stage(Object manager, int capacity) {
        return target.stage(manager, capacity);
    }

    public static void unstage() {
        target.unstage();
    }

    public static boolean set(Object array, ByteBuffer data) {
        return target.set(array, data);
    }

    public static ByteBuffer pin(Object array, ByteBuffer view) {
        return view != null && view.isDirect() ? target.pin(array, view) : view;
    }

    /** Null: room was made, try again. */
    public static Throwable failed(Throwable thrown, boolean again) {
        return target.failed(thrown, again);
    }

    /** Of an operation that must not run twice. */
    public static Throwable explained(Throwable thrown) {
        return target.explained(thrown);
    }

    public static void changed(Object array) {
        target.changed(array);
    }

    public static void closing(Object array) {
        target.closing(array);
    }

    public static IdentityHashMap<Object, Object> scope(IdentityHashMap<Object, Object> stock) {
        return target.scope(stock);
    }

    /** In place of {@code Collectors.toList()}. */
    public static Collector<Object, ?, List<Object>> listed() {
        return target.listed();
    }

    public static boolean watchesOwners() {
        return target.watchesOwners();
    }

    public static void owned(Object result, Object[] given) {
        target.owned(result, given);
    }

    public static Object keep(Object others, Object object) {
        return new Kept(object, others);
    }
}
