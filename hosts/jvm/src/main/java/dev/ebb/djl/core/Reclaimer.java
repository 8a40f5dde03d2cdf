package dev.ebb.djl.core;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * From death notices to memory that is back, on the thread that comes by.
 *
 * <p>The queue holds watches of arrays, of managers, and pins. Handles are deleted at once. What a dropped manager held
 * strongly is closed only at an open safe point, where DJL holds no lock: its close may call anything.
 *
 * <p>Inside a collection that the core's governor asked for only notices may be given; the thread notes what it found and
 * frees it when the call into the core has returned.
 */
final class Reclaimer {

    /** What the collector has found dead and nobody has taken yet: watches of arrays and of managers, and pins. */
    static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();

    private static final Set<Watch> WAITING = ConcurrentHashMap.newKeySet();
    private static final ConcurrentLinkedQueue<AutoCloseable> TO_CLOSE = new ConcurrentLinkedQueue<>();
    private static final ThreadLocal<List<Watch>> FOUND = new ThreadLocal<>();
    private static volatile boolean on;

    private Reclaimer() {}

    static boolean on() {
        return on;
    }

    static void set(boolean now) {
        if (!now && on) {
            drainArrays();
            Books.flush();
            Native.safePoint(0, 0); // so that what was freed is booked as reclaimed
        }
        on = now;
        if (now) {
            WAITING.forEach(Reclaimer::reclaim);
            Deletions.flush();
            Books.flush();
        }
        Native.reclaim(now);
    }

    static int waiting() {
        return WAITING.size();
    }

    /** Mostly nothing waits, and looking it up would give every watch an identity hash. */
    private static void stopWaiting(Watch ending) {
        if (!WAITING.isEmpty()) {
            WAITING.remove(ending);
        }
    }

    // ---- safe points

    /** After each birth, outside DJL's locks. */
    static void safePoint(int device) {
        Stripe stripe = Stripe.ofThisThread();
        giveBack();
        if (stripe.due) {
            stripe.due = false;
            Pressure.check(device);
        }
        if (!TO_CLOSE.isEmpty()) {
            closeDropped();
        }
    }

    /**
     * Everything, once the JVM's handler has put all that it has on the queue: meanwhile one at a birth, because who takes
     * them only quarrels with it for the queue's lock.
     */
    private static void giveBack() {
        Reference<?> dead = QUEUE.poll();
        if (dead != null) {
            take(dead);
            if (Native.referencesArriving()) {
                Deletions.flush();
            } else {
                drainArrays();
            }
        }
    }

    /** Gives back everything that the collector has found so far. */
    static void drain() {
        drainArrays();
        closeDropped();
    }

    /** The same where DJL may hold a lock: handles only. */
    static void drainArrays() {
        try {
            for (Reference<?> dead; (dead = QUEUE.poll()) != null; ) {
                take(dead);
            }
        } finally {
            Deletions.flush();
        }
    }

    private static void take(Reference<?> dead) {
        if (dead instanceof Watch array) {
            notice(array);
        } else if (dead instanceof ManagerWatch manager) {
            end(manager);
        } else {
            BufferPins.release(dead);
        }
    }

    // ---- arrays

    private static void notice(Watch dead) {
        if (LeakWatch.watching() && !dead.closed()) {
            LeakWatch.dropped(dead);
        }
        List<Watch> found = FOUND.get();
        if (found != null) {
            found.add(dead);
        } else if (on) {
            reclaim(dead);
        } else {
            await(dead);
        }
    }

    private static void reclaim(Watch dead) {
        stopWaiting(dead);
        dead.owner.forget(dead);
        boolean freed = dead.deleteSoon();
        dead.stripe.end(dead, freed ? Stripe.RECLAIMED : Stripe.DISPOSED);
    }

    /** Reclaim is off: it stays in its manager's map, and the core counts it as an orphan. */
    private static void await(Watch dead) {
        long core = dead.stripe.coreOf(dead);
        if (core != 0 && WAITING.add(dead)) {
            Native.orphan(new long[] {core}, 1);
        }
    }

    /** Its manager closes. Alive and open still: its close failed, and it is watched on. */
    static void endWithManager(Watch array) {
        if (!array.closed() && array.get() != null) {
            Loose.TABLE.add(array);
            return;
        }
        stopWaiting(array);
        array.delete();
        Books.ended(array, Stripe.REGION);
    }

    /** Its scope closes, and would have closed it. */
    static void endDropped(Watch dead) {
        stopWaiting(dead);
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

    /** The governor's: the JVM collects, and notices are given. Called by the core. */
    static void collectForGovernor() {
        List<Watch> found = FOUND.get();
        Collector.collect();
        drainArrays();
        if (found != null) {
            giveNotices(found);
        }
        for (Stripe stripe : Stripe.all()) {
            stripe.giveNotice(); // what other threads found meanwhile
        }
    }

    private static void giveNotices(List<Watch> found) {
        long[] cores = new long[Stripe.BATCH];
        int count = 0;
        for (Watch dead : found) {
            if (dead.state == Watch.ADOPTED) {
                cores[count++] = dead.core;
            }
            if (count == cores.length) {
                Native.orphan(cores, count);
                count = 0;
            }
        }
        Native.orphan(cores, count);
    }

    /** A call into the core that may collect. What is found inside is freed when it has returned. */
    static void collecting(Runnable call) {
        if (FOUND.get() != null) {
            return; // inside one already
        }
        List<Watch> found = new ArrayList<>();
        FOUND.set(found);
        try {
            call.run();
        } finally {
            FOUND.remove();
            found.forEach(dead -> dead.stripe.due = false);
            found.forEach(Reclaimer::notice);
            Deletions.flush();
        }
    }

    /** A collection whatever the governor says, and a drain. */
    static void collectNow() {
        Collector.collect();
        drain();
        Collector.collect(); // what only the first one made unreachable: a manager's arrays, a buffer's
        drain();
    }
}
