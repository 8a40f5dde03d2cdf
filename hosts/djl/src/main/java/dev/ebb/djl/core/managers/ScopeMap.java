package dev.ebb.djl.core.managers;

import dev.ebb.djl.core.engines.EngineAdapter;
import dev.ebb.djl.core.engines.Kinds;
import dev.ebb.djl.core.watching.Reclaimer;
import dev.ebb.djl.core.watching.Watch;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * The arrays of an {@code NDScope}, which would hold every one of them until it closes. Kept are their watches; an array
 * that the program has dropped comes back meanwhile, and at the latest when the scope closes. Of one thread.
 */
public final class ScopeMap extends IdentityHashMap<Object, Object> {

    private static final long serialVersionUID = 1L;
    private static final int LEAST = 64;

    private transient IdentityHashMap<Watch, Watch> watches = new IdentityHashMap<>();
    private int sweepAt = LEAST;

    private static Watch watchOf(Object array) {
        return Kinds.of(array) instanceof EngineAdapter adapter
                ? ManagerShape.watchOf(adapter.manager(array), adapter.uid(array))
                : null;
    }

    @Override
    public Object put(Object array, Object same) {
        Watch watch = watchOf(array);
        if (watch == null) {
            return super.put(array, same);
        }
        watches.put(watch, watch);
        if (watches.size() >= sweepAt) {
            watches.keySet().removeIf(each -> each.state == Watch.ENDED);
            sweepAt = Math.max(LEAST, 2 * watches.size());
        }
        return null;
    }

    @Override
    public Object remove(Object array) {
        Watch watch = watchOf(array);
        if (watch != null) {
            watches.remove(watch);
        }
        return super.remove(array);
    }

    /** What DJL closes with the scope. The dropped end here. */
    @Override
    public Set<Object> keySet() {
        Set<Object> alive = Collections.newSetFromMap(new IdentityHashMap<>());
        alive.addAll(super.keySet());
        for (Watch watch : watches.keySet()) {
            Object array = watch.get();
            if (array != null) {
                alive.add(array);
            } else {
                Reclaimer.endDropped(watch);
            }
        }
        return alive;
    }
}
