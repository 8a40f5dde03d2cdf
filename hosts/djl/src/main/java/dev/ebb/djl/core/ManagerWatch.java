package dev.ebb.djl.core;

import java.lang.ref.WeakReference;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The closing record of a manager: its maps, which do not reach it, and its place in its parent's. */
final class ManagerWatch extends WeakReference<Object> {

    /** Those of all open managers: the maps, and the watches in them, have to outlive their manager. */
    private static final Set<ManagerWatch> OPEN = ConcurrentHashMap.newKeySet();

    /** Those of the engines, which never close and are the program's no more than the engines are. */
    private static final AtomicInteger OF_ENGINES = new AtomicInteger();

    final ManagerMap map;
    volatile ManagerMap parent;
    volatile String uid;

    ManagerWatch(Object manager, ManagerMap map) {
        super(manager, Reclaimer.QUEUE);
        this.map = map;
        OPEN.add(this);
        if (ManagerShape.of(manager).isOfEngine(manager)) {
            OF_ENGINES.incrementAndGet();
        }
    }

    /** How many managers of the program's are open. */
    static int open() {
        return OPEN.size() - OF_ENGINES.get();
    }

    boolean isOpen() {
        return OPEN.contains(this);
    }

    /** Its manager has closed, or is gone and ended. */
    void retire() {
        OPEN.remove(this);
        clear();
    }
}
