package dev.ebb.djl.core;

import dev.ebb.djl.core.engines.EngineAdapter;
import dev.ebb.djl.core.engines.Kinds;
import dev.ebb.djl.core.engines.PyTorchAdapter;
import dev.ebb.djl.core.engines.Staging;
import dev.ebb.djl.core.managers.Alive;
import dev.ebb.djl.core.managers.LentMap;
import dev.ebb.djl.core.managers.ManagerMap;
import dev.ebb.djl.core.managers.ManagerShape;
import dev.ebb.djl.core.managers.Ownership;
import dev.ebb.djl.core.managers.ScopeMap;
import dev.ebb.djl.core.pressure.Devices;
import dev.ebb.djl.core.pressure.OutOfMemory;
import dev.ebb.djl.core.watching.Reclaimer;
import dev.ebb.djl.core.watching.Watch;
import dev.ebb.djl.hooks.Hooks;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collector;

/** What woven code does. */
final class HookTarget implements Hooks.Target {

    private static final boolean WEAK = !Boolean.getBoolean("ebb.without.weakMaps");
    private static final boolean OWN = !Boolean.getBoolean("ebb.without.ownMemory");

    @Override
    public ConcurrentHashMap<String, Object> resources(
            Object manager, ConcurrentHashMap<String, Object> stock) {
        if (!WEAK || stock instanceof ManagerMap || !Kinds.knowsManager(manager)) {
            return stock;
        }
        ManagerMap map = new ManagerMap(manager);
        map.putAll(stock);
        return map;
    }

    @Override
    public ConcurrentHashMap<String, Object> tempResources(
            Object manager, ConcurrentHashMap<String, Object> stock) {
        if (!WEAK || stock instanceof LentMap || !Kinds.knowsManager(manager)) {
            return stock;
        }
        LentMap map = new LentMap(manager, Devices.idOf(ManagerShape.of(manager).deviceOf(manager)));
        map.putAll(stock);
        return map;
    }

    @Override
    public void safePoint(Object array) {
        Reclaimer.safePoint();
    }

    @Override
    public void managerClosed(Object manager) {
        Reclaimer.drain();
    }

    @Override
    public long ownMemory(long handle, Object manager, ByteBuffer data) {
        return Staging.mayAlias(data) ? handle : PyTorchAdapter.ofManager(manager).ownMemory(handle, data);
    }

    @Override
    public ByteBuffer alias(ByteBuffer data) {
        return Staging.mayAlias(data) ? data : null;
    }

    @Override
    public void aliased(Object array) {
        if (Staging.ALIASES && Kinds.of(array) instanceof EngineAdapter adapter) {
            ManagerMap map = ManagerShape.mapOf(adapter.manager(array));
            if (map != null) {
                map.keepAlias(array, adapter);
            }
        }
    }

    @Override
    public boolean watchesOwners() {
        return Ownership.watches();
    }

    @Override
    public void owned(Object result, Object[] given) {
        Ownership.assign(result, given);
    }

    @Override
    public ByteBuffer stage(Object manager, int capacity) {
        return Staging.take(capacity);
    }

    @Override
    public void unstage() {
        Staging.giveBack();
    }

    @Override
    public boolean set(Object array, ByteBuffer data) {
        return OWN && Kinds.of(array) instanceof EngineAdapter adapter && adapter.set(array, data);
    }

    @Override
    public ByteBuffer pin(Object array, ByteBuffer view) {
        return Native.keepWith(view, array) ? view : copied(view);
    }

    /** Where this JVM's buffers cannot keep another object: memory of its own. */
    private static ByteBuffer copied(ByteBuffer view) {
        return ByteBuffer.allocateDirect(view.remaining()).order(view.order()).put(view.duplicate()).flip();
    }

    @Override
    public Throwable failed(Throwable thrown, boolean again) {
        return OutOfMemory.handle(thrown, again);
    }

    @Override
    public Throwable explained(Throwable thrown) {
        return OutOfMemory.explain(thrown);
    }

    @Override
    public void changed(Object array) {
        Watch watch = watchOf(array);
        Object handle = watch == null ? null : watch.handleNow(array);
        if (handle != null) {
            watch.stripe.rebook(watch, watch.adapter.bytes(array, handle));
        }
    }

    @Override
    public void closing(Object array) {
        Watch watch = watchOf(array);
        if (watch != null) {
            watch.close(array);
        }
    }

    private static Watch watchOf(Object array) {
        return Kinds.of(array) instanceof EngineAdapter adapter
                ? ManagerShape.watchOf(adapter.manager(array), adapter.uid(array))
                : null;
    }

    @Override
    public Collector<Object, ?, List<Object>> listed() {
        return Alive.collector();
    }

    @Override
    public IdentityHashMap<Object, Object> scope(IdentityHashMap<Object, Object> stock) {
        return WEAK ? new ScopeMap() : stock;
    }
}
