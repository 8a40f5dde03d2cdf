package dev.ebb.djl.core;

import java.lang.ref.WeakReference;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The closing record of a manager: its maps, which do not reach it, and its place in its parent's. */
final class ManagerWatch extends WeakReference<Object> {

    /** Those of all open managers: the maps, and the watches in them, have to outlive their manager. */
    private static final Set<ManagerWatch> OPEN = ConcurrentHashMap.newKeySet();

    final ManagerMap map;
    volatile ManagerMap parent;
    volatile String uid;

    ManagerWatch(Object manager, ManagerMap map) {
        super(manager, Reclaimer.QUEUE);
        this.map = map;
        OPEN.add(this);
    }

    static int open() {
        return OPEN.size();
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
