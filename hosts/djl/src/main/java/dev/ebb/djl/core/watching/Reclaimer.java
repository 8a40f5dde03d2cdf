package dev.ebb.djl.core.watching;

import dev.ebb.djl.core.Messages;
import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.books.Adopted;
import dev.ebb.djl.core.books.Books;
import dev.ebb.djl.core.books.LeakWatch;
import dev.ebb.djl.core.books.Stripe;
import dev.ebb.djl.core.engines.Deletions;
import dev.ebb.djl.core.managers.ManagerMap;
import dev.ebb.djl.core.pressure.Collector;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * From death notices to memory that is back, on the thread that comes by.
 *
 * <p>The queue holds watches of arrays and of managers. An array that the core does not know yet is deleted at once. Of the
 * others the core gets notice; it ends them at a safe point, which is a call of ours, and calls back to have them deleted.
 * While reclaim is off they wait there. What a dropped manager held strongly is closed only at an open safe point, where
 * DJL holds no lock: its close may call anything.
 */
public final class Reclaimer {

    /** What the collector has found dead and nobody has taken yet: watches of arrays and of managers. */
    public static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();

    private static final ConcurrentLinkedQueue<AutoCloseable> TO_CLOSE = new ConcurrentLinkedQueue<>();
    private static final int TOGETHER = 256;
    private static volatile boolean on;

    private Reclaimer() {}

    public static boolean on() {
        return on;
    }

    public static void set(boolean now) {
        if (!now) {
            drainArrays(); // what is found dead by now was to come back
        }
        Native.reclaim(now);
        on = now;
        if (now) {
            Native.drain(); // what has waited
        }
    }

    // ---- safe points

    /** After each birth, outside DJL's locks. */
    public static void safePoint() {
        Stripe stripe = Stripe.ofThisThread();
        giveBack();
        if (stripe.due) {
            stripe.due = false;
            stripe.flushGone();
            if (on) {
                Native.safePoint();
            }
        }
        if (!TO_CLOSE.isEmpty()) {
            closeDropped();
        }
    }

    /**
     * Everything, once the JVM's handler has put all that it has on the queue, and finalizers have ended: who takes them
     * before only quarrels with the handler for the queue's lock.
     */
    private static void giveBack() {
        if (Postponed.isEmpty()) {
            Reference<?> dead = QUEUE.poll();
            if (dead == null) {
                return;
            }
            Postponed.add((Mark) dead);
        }
        if (!Postponed.inUse()) {
            drainArrays();
        }
    }

    /** Gives back everything that the collector has found so far. */
    public static void drain() {
        drainArrays();
        closeDropped();
    }

    /** The same where DJL may hold a lock: handles only. */
    public static void drainArrays() {
        takeAll();
        if (Stripe.giveNotices()) {
            Native.drain();
        }
    }

    private static void takeAll() {
        try {
            while (takeSome()) {
                continue;
            }
        } finally {
            Deletions.flush();
        }
    }

    /** As many as one question after finalizers is for; whether there may be more. */
    private static boolean takeSome() {
        Mark found = Postponed.takeAll();
        int polled = 0;
        for (Reference<?> dead; polled < TOGETHER && (dead = QUEUE.poll()) != null; polled++) {
            ((Mark) dead).next = found;
            found = (Mark) dead;
        }
        if (found == null) {
            return false;
        }
        boolean free = false;
        try {
            free = !Postponed.inUse();
        } finally {
            if (!free) {
                Postponed.addAll(found);
            }
        }
        if (free) {
            take(found);
        }
        return free && polled == TOGETHER;
    }

    private static void take(Mark chain) {
        Mark left = chain;
        try {
            while (left != null) {
                Mark dead = left;
                left = dead.next;
                dead.next = null;
                takeOne(dead);
            }
        } finally {
            Postponed.addAll(left);
        }
    }

    private static void takeOne(Mark dead) {
        if (dead instanceof Watch array) {
            notice(array);
        } else if (dead instanceof ManagerWatch manager) {
            end(manager);
        }
    }

    // ---- arrays

    private static void notice(Watch dead) {
        if (LeakWatch.watching() && !dead.closed()) {
            LeakWatch.dropped(dead);
        }
        if (on && (dead.state != Watch.ADOPTED || dead.core == 0)) { // the core does not know it, or had no room for it
            dead.owner.forget(dead);
            dead.stripe.end(dead, dead.deleteSoon() ? Stripe.RECLAIMED : Stripe.DISPOSED);
        } else {
            dead.stripe.dropped(dead);
            if (!on) {
                dead.owner.setAside(dead);
            }
        }
    }

    /**
     * What the core has ended: its name and its tag of each. One that cannot be deleted keeps no other; what is said here
     * twice is deleted once.
     */
    public static void delete(long[] ended) {
        try {
            for (int i = 0; i < ended.length; i += 2) {
                Watch dead = Adopted.take(ended[i], (int) ended[i + 1]);
                if (dead != null && dead.stripe.reclaimed(dead)) {
                    delete(dead);
                }
            }
        } finally {
            Deletions.flush();
        }
    }

    private static void delete(Watch dead) {
        try {
            dead.owner.forget(dead);
            dead.deleteSoon();
        } catch (RuntimeException e) {
            Messages.say("an array could not be deleted: " + e);
        }
    }

    /** Its manager closes. Alive and open still: its close failed, and it is watched on. */
    public static void endWithManager(Watch array) {
        if (!array.closed() && array.get() != null) {
            Loose.TABLE.add(array);
            return;
        }
        array.delete();
        Books.ended(array, Stripe.REGION);
    }

    /** Its scope closes, and would have closed it. */
    public static void endDropped(Watch dead) {
        dead.owner.forget(dead);
        dead.delete();
        Books.ended(dead, Stripe.DISPOSED);
    }

    // ---- managers

    /** Nobody reaches the manager any more, so nobody reaches its arrays: they hold it. */
    private static void end(ManagerWatch dead) {
        ManagerMap parent = dead.parent;
        if (parent != null) {
            parent.forget(dead);
        }
        for (Object record : dead.map.records()) {
            if (record instanceof Watch array) {
                if (array.state != Watch.ENDED && array.refersTo(null)) {
                    notice(array);
                }
            } else if (record instanceof AutoCloseable other && on) {
                TO_CLOSE.add(other);
            }
        }
        dead.retire();
    }

    private static void closeDropped() {
        for (AutoCloseable each; (each = TO_CLOSE.poll()) != null; ) {
            try {
                each.close();
            } catch (Exception e) {
                Messages.say("a resource of a dropped manager failed to close: " + e);
            }
        }
    }

    // ---- collections

    /** The governor's: the JVM collects, and notices are given. Called by the core, which then drains. */
    public static void collectForGovernor() {
        collect();
        takeAll();
        Stripe.giveNotices();
    }

    /** A collection whatever the governor says, and a drain. */
    public static void collectNow() {
        collectOnce();
        collectOnce(); // what only the first one made unreachable: a manager's arrays, a buffer's
    }

    public static void collectOnce() {
        collect();
        drain();
    }

    private static void collect() {
        Collector.collect();
        Postponed.await();
    }
}
