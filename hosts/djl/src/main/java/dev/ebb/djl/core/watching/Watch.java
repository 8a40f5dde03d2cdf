package dev.ebb.djl.core.watching;

import dev.ebb.djl.core.books.Stripe;
import dev.ebb.djl.core.books.TaskBooks;
import dev.ebb.djl.core.engines.Deletions;
import dev.ebb.djl.core.engines.EngineAdapter;

/**
 * The closing record of an array or a module: what is needed to end it once nobody can reach it. It never reaches the
 * array itself. {@code state}, {@code core} and {@code bytes} change under the lock of its stripe.
 */
public final class Watch extends Mark {

    /** Born, not in the core's books yet. */
    public static final byte PENDING = 0;

    public static final byte ADOPTED = 1;
    public static final byte ENDED = 2;

    /** {@code core} before the birth is booked; less by its reason, if the end came first. */
    static final long UNBORN = -1;

    public static final long ENDED_UNBORN = -2;

    public final EngineAdapter adapter;
    private final Object holder; // of the native handle, which whoever takes it out deletes
    public final String uid;
    public final Stripe stripe;
    public volatile Owner owner;
    public TaskBooks task; // null: made outside of any
    public long bytes;
    public long core = UNBORN; // the core's name of it; while pending its place among the births
    public int site;
    public int device;
    public int tag; // in the core's books, once adopted
    public byte state;

    public Watch(Object array, EngineAdapter adapter, String uid, Owner owner) {
        super(array);
        this.adapter = adapter;
        this.holder = adapter.holder(array);
        this.uid = uid;
        this.owner = owner;
        this.stripe = Stripe.ofThisThread();
    }

    /** Whether the program has closed it, or its manager, or Ebb. */
    public boolean closed() {
        return handle() == null;
    }

    /** Null once it is closed. */
    public Object handle() {
        return adapter.peek(holder);
    }

    /** The same after the array may have got another one. */
    public Object handleNow(Object array) {
        adapter.update(holder, array);
        return handle();
    }

    /** The program closes its array, and the engine would free what it has, however often it is closed. */
    public void close(Object array) {
        delete();
        adapter.empty(array);
    }

    /** Deletes what the handle names, unless someone else has. */
    boolean delete() {
        Object named = adapter.take(holder);
        if (named != null) {
            adapter.delete(named);
        }
        return named != null;
    }

    /** The same, together with others if the engine can: {@link Deletions#flush} follows. */
    boolean deleteSoon() {
        Object named = adapter.take(holder);
        if (named != null) {
            adapter.deleteSoon(named);
        }
        return named != null;
    }

    /** Where a watch is kept. */
    public interface Owner {
        void forget(Watch watch);

        /** The program has dropped it, and reclaim is off: it waits where no walk has to pass it. */
        default void setAside(Watch dead) {}

        /** The core's region that stands for it in reports. */
        long region();
    }
}
