package dev.ebb.djl.core.watching;

import dev.ebb.djl.core.managers.ManagerMap;
import dev.ebb.djl.core.managers.ManagerShape;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The closing record of a manager: its maps, which do not reach it, and its place in its parent's. */
public final class ManagerWatch extends Mark {

    /** Those of all open managers: the maps, and the watches in them, have to outlive their manager. */
    private static final Set<ManagerWatch> OPEN = ConcurrentHashMap.newKeySet();

    /** Those of the engines, which never close and are the program's no more than the engines are. */
    private static final AtomicInteger OF_ENGINES = new AtomicInteger();

    private static final AtomicLong IDS = new AtomicLong();

    public final ManagerMap map;
    public final long id = IDS.incrementAndGet(); // the core's name for its list
    public volatile ManagerMap parent;
    public volatile String uid;
    public volatile Boolean shortest; // the rule for results here and below; null: as above

    public ManagerWatch(Object manager, ManagerMap map) {
        super(manager);
        this.map = map;
        OPEN.add(this);
        if (ManagerShape.of(manager).isOfEngine(manager)) {
            OF_ENGINES.incrementAndGet();
        }
    }

    /** The JVM's own takes a call into it for each new object. */
    @Override
    public int hashCode() {
        return Long.hashCode(id);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    /** That of the manager in which this one is; null if there is none. */
    public ManagerWatch parent() {
        ManagerMap above = parent;
        return above == null ? null : above.watch;
    }

    private int depth() {
        int depth = 0;
        for (ManagerWatch each = parent(); each != null; each = each.parent()) {
            depth++;
        }
        return depth;
    }

    /** By what is known of it: the deeper one, of equals the one made last. */
    public boolean endsBefore(ManagerWatch other) {
        int difference = depth() - other.depth();
        return difference > 0 || (difference == 0 && id > other.id);
    }

    /** How many managers of the program's are open. */
    public static int open() {
        return OPEN.size() - OF_ENGINES.get();
    }

    public boolean isOpen() {
        return OPEN.contains(this);
    }

    /** Its manager has closed, or is gone and ended. */
    public void retire() {
        OPEN.remove(this);
    }
}
