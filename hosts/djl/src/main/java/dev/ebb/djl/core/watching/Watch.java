package dev.ebb.djl.core.watching;

import dev.ebb.djl.core.books.Stripe;
import dev.ebb.djl.core.engines.Deletions;
import dev.ebb.djl.core.engines.EngineAdapter;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The closing record of an array or a module: what is needed to end it once nobody can reach it. It never reaches the
 * array itself. {@code state}, {@code core} and {@code bytes} change under the lock of its stripe.
 */
public final class Watch extends WeakReference<Object> {

    /** Born, not in the core's books yet. */
    public static final byte PENDING = 0;

    public static final byte ADOPTED = 1;
    public static final byte ENDED = 2;

    /** {@code core} before the birth is booked; less by its reason, if the end came first. */
    static final long UNBORN = -1;

    public static final long ENDED_UNBORN = -2;

    public final EngineAdapter adapter;
    public final AtomicReference<?> handle;
    public final String uid;
    public final Stripe stripe;
    public volatile Owner owner;
    public long bytes;
    public long core = UNBORN; // the core's name of it; while pending its place among the births
    public int site;
    public int device;
    public int tag; // in the core's books, once adopted
    public byte state;

    public Watch(Object array, EngineAdapter adapter, String uid, Owner owner, ReferenceQueue<Object> queue) {
        super(array, queue);
        this.adapter = adapter;
        this.handle = adapter.handle(array);
        this.uid = uid;
        this.owner = owner;
        this.stripe = Stripe.ofThisThread();
    }

    /** Whether the program has closed it, or its manager, or Ebb. */
    public boolean closed() {
        return handle.get() == null;
    }

    /** Deletes what the handle names, unless someone else has. */
    boolean delete() {
        Object named = handle.getAndSet(null);
        if (named != null) {
            adapter.delete(named);
        }
        return named != null;
    }

    /** The same, together with others if the engine can: {@link Deletions#flush} follows. */
    boolean deleteSoon() {
        Object named = handle.getAndSet(null);
        if (named != null) {
            adapter.deleteSoon(named);
        }
        return named != null;
    }

    /** Where a watch is kept. */
    public interface Owner {
        void forget(Watch watch);

        /** The core's region that stands for it in reports. */
        long region();
    }
}
