package dev.ebb.djl.core.managers;

import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.books.Regions;
import dev.ebb.djl.core.books.Stripe;
import dev.ebb.djl.core.engines.EngineAdapter;
import dev.ebb.djl.core.engines.Kinds;
import dev.ebb.djl.core.pressure.Devices;
import dev.ebb.djl.core.watching.Loose;
import dev.ebb.djl.core.watching.ManagerWatch;
import dev.ebb.djl.core.watching.Reclaimer;
import dev.ebb.djl.core.watching.Watch;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A manager's resources. Arrays, modules and sub-managers are held weakly: in the table are their records; what goes in
 * and comes out are the resources themselves. An entry whose resource the program has dropped is not seen any more.
 */
public final class ManagerMap extends StandInMap implements Watch.Owner {

    private static final long serialVersionUID = 1L;

    public final transient ManagerWatch watch;
    private final transient Records records = new Records();
    private transient volatile Set<Watch> aside; // dead ones that wait for reclaim to be switched on; null: none ever
    private transient int visited; // by the last walk; 0: there was none
    private final int device;
    private final transient ConcurrentHashMap<String, Object> aliases = new ConcurrentHashMap<>(0);
    private volatile long region;
    private final String label;

    public ManagerMap(Object manager) {
        ManagerShape shape = ManagerShape.of(manager);
        device = Devices.idOf(shape.deviceOf(manager));
        label = shape.label(manager);
        watch = new ManagerWatch(manager, this);
    }

    int device() {
        return device;
    }

    // ---- the records

    @Override
    public void forget(Watch dead) {
        records.remove(dead.uid, dead);
        Set<Watch> waiting = aside;
        if (waiting != null) {
            waiting.remove(dead);
        }
    }

    /** Walks do not meet it any more. It is in one table or the other at any moment: a close meanwhile ends it. */
    @Override
    public void setAside(Watch dead) {
        addAside(dead);
        records.remove(dead.uid, dead);
    }

    private void addAside(Watch dead) {
        if (aside == null) {
            synchronized (this) {
                aside = aside == null ? ConcurrentHashMap.newKeySet() : aside;
            }
        }
        aside.add(dead);
        if (dead.stripe.hasEnded(dead)) { // reclaimed meanwhile
            aside.remove(dead);
        }
    }

    public void forget(ManagerWatch dead) {
        records.remove(dead.uid, dead);
    }

    /** Takes over the record of an array that the program has dropped while it was lent to another manager. */
    void keep(Watch dead) {
        if (watch.isOpen()) {
            dead.owner = this;
            addAside(dead);
        } else {
            Reclaimer.endWithManager(dead);
        }
    }

    @Override
    public long region() {
        long known = region;
        if (known == 0) {
            known = Regions.of(label());
            region = known;
        }
        return known;
    }

    /** What reports call it; a name may have been given to it by now. */
    public String label() {
        Object manager = watch.get();
        return manager == null ? label : ManagerShape.of(manager).label(manager);
    }

    /** Views of the array may outlive it: the buffer stays until the array is closed, or the manager, as in stock DJL. */
    public void keepAlias(Object array, EngineAdapter adapter) {
        Object buffer = adapter.aliasOf(array);
        if (buffer != null) {
            aliases.put(adapter.uid(array), buffer);
        }
    }

    Watch watchOf(String uid) {
        return records.get(uid) instanceof Watch array ? array : null;
    }

    /** The records and the resources that are held strongly, as they are in the table. */
    public Collection<Object> records() {
        return records.all();
    }

    // ---- what DJL calls

    @Override
    public Object put(String uid, Object resource) {
        Object kind = Kinds.of(resource);
        if (kind instanceof EngineAdapter adapter) {
            return putArray(uid, resource, adapter);
        }
        ManagerMap sub = kind == Kinds.MANAGER ? ManagerShape.mapOf(resource) : null;
        if (sub == null) {
            return Alive.resource(records.put(uid, resource));
        }
        sub.watch.parent = this;
        sub.watch.uid = uid;
        return Alive.resource(records.put(uid, sub.watch));
    }

    private Object putArray(String uid, Object array, EngineAdapter adapter) {
        Watch known = Loose.TABLE.take(uid);
        if (known != null) {
            known.owner = this;
            Books.moved(known);
            return Alive.resource(records.put(uid, known));
        }
        Watch fresh = new Watch(array, adapter, uid, this);
        Object before = records.put(uid, fresh);
        if (before == null) {
            Books.born(fresh, array, device);
            return null;
        }
        return replaced(uid, before, fresh, array);
    }

    /** Attached twice: the first record stays. Another array under the same name: DJL forgets the other one. */
    private Object replaced(String uid, Object before, Watch fresh, Object array) {
        if (before instanceof Watch first && first.get() == array) {
            fresh.clear();
            records.put(uid, first);
        } else {
            Books.born(fresh, array, device);
            if (before instanceof Watch other) {
                released(other);
            }
        }
        return Alive.resource(before);
    }

    /** Its array left the manager: closed, or detached and still to be watched. */
    private static void released(Watch left) {
        if (left.closed()) {
            Books.ended(left, Stripe.DISPOSED);
        } else {
            Loose.TABLE.add(left);
        }
    }

    @Override
    public Object remove(Object uid) {
        if (!aliases.isEmpty()) {
            aliases.remove(uid);
        }
        Object record = records.remove(uid);
        if (record instanceof Watch left) {
            Object array = left.get();
            released(left);
            return array;
        }
        if (record == null) {
            Watch loose = Loose.TABLE.find((String) uid);
            if (loose != null && loose.closed()) {
                Loose.TABLE.forget(loose);
                Books.ended(loose, Stripe.DISPOSED);
            }
        }
        return Alive.resource(record);
    }

    /** The manager has closed. What DJL did not see, because the program had dropped it, ends here. */
    @Override
    public void clear() {
        records.forEach(
                (uid, record) -> {
                    if (record instanceof Watch array) {
                        Reclaimer.endWithManager(array);
                    }
                });
        Set<Watch> waiting = aside;
        if (waiting != null) {
            waiting.forEach(Reclaimer::endWithManager);
            waiting.clear();
        }
        records.clear();
        aliases.clear();
        watch.retire();
    }

    /** A walk: what the collector has found comes back first, so that it costs what is alive. */
    @Override
    public Collection<Object> values() {
        if (Reclaimer.on() && visited != 0) {
            Native.walk(watch.id, visited);
        }
        Reclaimer.drainArrays();
        List<Object> all = records.all();
        visited = all.size();
        return new Alive(all);
    }

    @Override
    public Object get(Object uid) {
        return Alive.resource(records.get(uid));
    }

    @Override
    public int size() {
        return alive().size();
    }

    @Override
    ConcurrentHashMap<String, Object> alive() {
        ConcurrentHashMap<String, Object> alive = new ConcurrentHashMap<>();
        records.forEach(
                (uid, record) -> {
                    Object resource = Alive.resource(record);
                    if (resource != null) {
                        alive.put(uid, resource);
                    }
                });
        return alive;
    }
}
