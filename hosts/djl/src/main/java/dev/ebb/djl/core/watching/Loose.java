package dev.ebb.djl.core.watching;

import dev.ebb.djl.core.books.Regions;
import dev.ebb.djl.core.managers.ManagerMap;
import java.util.concurrent.ConcurrentHashMap;

/** Watches of arrays that are in no manager's resources: detached, or lent to another manager. */
public final class Loose implements Watch.Owner {

    public static final Loose TABLE = new Loose();

    private final ConcurrentHashMap<String, Watch> watches = new ConcurrentHashMap<>();

    private Loose() {}

    public void add(Watch watch) {
        watches.put(watch.uid, watch);
        if (watch.owner instanceof ManagerMap) {
            watch.owner = this;
        }
    }

    public Watch find(String uid) {
        return watches.isEmpty() ? null : watches.get(uid);
    }

    /** The array's watch, which its new manager keeps from now on; null if it has none here. */
    public Watch take(String uid) {
        return watches.isEmpty() ? null : watches.remove(uid);
    }

    public int size() {
        return watches.size();
    }

    @Override
    public void forget(Watch watch) {
        watches.remove(watch.uid, watch);
    }

    @Override
    public long region() {
        return Regions.of("detached");
    }
}
