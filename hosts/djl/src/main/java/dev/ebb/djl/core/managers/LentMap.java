package dev.ebb.djl.core.managers;

import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.books.Regions;
import dev.ebb.djl.core.engines.EngineAdapter;
import dev.ebb.djl.core.engines.Kinds;
import dev.ebb.djl.core.watching.Loose;
import dev.ebb.djl.core.watching.Reclaimer;
import dev.ebb.djl.core.watching.Watch;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * A manager's {@code tempResources}: arrays lent to it. DJL's record of a loan reaches the array, so it is taken apart
 * on the way in and made anew on the way out. Almost always empty; then DJL's lookups cost nothing here.
 */
public final class LentMap extends StandInMap {

    private static final long serialVersionUID = 1L;

    /** One array, lent: its watch, whom it goes back to, and whether it has left meanwhile. */
    private static final class Loan implements Watch.Owner {
        final LentMap map;
        final Watch watch;
        final Object lender;
        boolean detached;

        Loan(LentMap map, Watch watch, Object lender) {
            this.map = map;
            this.watch = watch;
            this.lender = lender;
        }

        @Override
        public void forget(Watch dead) {
            Loose.TABLE.forget(dead);
            map.loans.remove(dead.uid, this);
        }

        @Override
        public long region() {
            return Regions.of("lent");
        }
    }

    private final transient ConcurrentHashMap<String, Object> loans = new ConcurrentHashMap<>();
    private final transient ManagerShape shape;
    private final int device;

    public LentMap(Object manager, int device) {
        shape = ManagerShape.of(manager);
        this.device = device;
    }

    @Override
    public Object put(String uid, Object lent) {
        Object resource = shape.lentResource(lent);
        if (!(Kinds.of(resource) instanceof EngineAdapter adapter)) {
            return loans.put(uid, lent);
        }
        Watch watch = Loose.TABLE.find(uid);
        if (watch == null) {
            watch = new Watch(resource, adapter, uid, Loose.TABLE);
            Loose.TABLE.add(watch);
            Books.born(watch, resource, device);
        }
        Loan loan = new Loan(this, watch, shape.lentManager(lent));
        watch.owner = loan;
        loans.put(uid, loan);
        return null;
    }

    /** DJL's record for one in the table; null if its array is gone. */
    private Object restored(Object entry) {
        if (!(entry instanceof Loan loan)) {
            return entry;
        }
        Object array = loan.watch.get();
        return array == null ? null : shape.loan(array, loan.lender, loan.detached);
    }

    /** What DJL changes in its record: only whether the array has left. */
    private Object change(String uid, Object entry, BiFunction<? super String, ? super Object, ?> change) {
        Object before = restored(entry);
        Object after = change.apply(uid, before);
        if (entry instanceof Loan loan) {
            if (before != null) {
                loan.detached = shape.lentDetached(before);
                if (!loan.detached && loan.watch.owner == Loose.TABLE) {
                    loan.watch.owner = loan; // it has come back
                }
            }
            return after == null && before != null ? null : entry;
        }
        return after;
    }

    @Override
    public Object compute(String uid, BiFunction<? super String, ? super Object, ?> change) {
        if (loans.isEmpty()) {
            Object made = change.apply(uid, null);
            return made == null ? null : put(uid, made);
        }
        return loans.compute(uid, (key, entry) -> change(key, entry, change));
    }

    @Override
    public Object computeIfPresent(String uid, BiFunction<? super String, ? super Object, ?> change) {
        if (loans.isEmpty()) {
            return null;
        }
        return loans.computeIfPresent(
                uid,
                (key, entry) -> restored(entry) == null ? entry : change(key, entry, change));
    }

    @Override
    public boolean isEmpty() {
        return loans.isEmpty() || super.isEmpty();
    }

    @Override
    ConcurrentHashMap<String, Object> alive() {
        ConcurrentHashMap<String, Object> alive = new ConcurrentHashMap<>();
        loans.forEach(
                (uid, entry) -> {
                    Object loan = restored(entry);
                    if (loan != null) {
                        alive.put(uid, loan);
                    }
                });
        return alive;
    }

    @Override
    public Collection<Object> values() {
        if (loans.isEmpty()) {
            return List.of();
        }
        List<Object> alive = new ArrayList<>();
        for (Object entry : loans.values()) {
            Object loan = restored(entry);
            if (loan != null) {
                alive.add(loan);
            }
        }
        return alive;
    }

    /** The borrower has closed, and DJL has returned what the program still has. The rest goes the same way. */
    @Override
    public void clear() {
        for (Object entry : loans.values()) {
            if (entry instanceof Loan loan && loan.watch.owner == loan) {
                goBack(loan);
            }
        }
        loans.clear();
    }

    private static void goBack(Loan loan) {
        if (loan.watch.get() != null || loan.detached) {
            loan.watch.owner = Loose.TABLE;
        } else {
            Loose.TABLE.forget(loan.watch);
            ManagerShape.mapOf(loan.lender).keep(loan.watch);
        }
    }
}
