package dev.ebb.djl.core.watching;

import java.lang.ref.WeakReference;

/** What the collector clears and puts on {@link Reclaimer#QUEUE}, and may then wait in a chain. */
abstract class Mark extends WeakReference<Object> {

    Mark next;

    Mark(Object referent) {
        super(referent, Reclaimer.QUEUE);
    }
}
