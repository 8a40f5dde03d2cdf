package dev.ebb.djl.core.books;

import dev.ebb.djl.core.watching.Watch;
import java.util.Arrays;
import java.util.function.Consumer;

/** The watches of what is in the core's books, by the tag under which the core knows them. A tag is used again. */
public final class Adopted {

    private static final int LEAST = 1024;

    private static Watch[] byTag = new Watch[LEAST];
    private static int[] free = new int[LEAST];
    private static int freed; // of those in use once
    private static int used; // tags from here on have not been used

    private Adopted() {}

    /** Gives tags to some watches. */
    static synchronized void add(Watch[] births, int from, int count) {
        for (int i = from; i < from + count; i++) {
            int tag = freed > 0 ? free[--freed] : used++;
            if (tag == byTag.length) {
                byTag = Arrays.copyOf(byTag, 2 * tag);
                free = Arrays.copyOf(free, 2 * tag);
            }
            byTag[tag] = births[i];
            births[i].tag = tag;
        }
    }

    /** The watch that the core knows by this name and tag; null if it is not there any more. */
    public static synchronized Watch take(long core, int tag) {
        Watch found = tag >= 0 && tag < used ? byTag[tag] : null;
        return found != null && found.core == core && remove(found) ? found : null;
    }

    static synchronized void remove(Watch[] births, int from, int count) {
        for (int i = from; i < from + count; i++) {
            remove(births[i]);
        }
    }

    static synchronized boolean remove(Watch watch) {
        if (byTag[watch.tag] != watch) {
            return false;
        }
        byTag[watch.tag] = null;
        free[freed++] = watch.tag;
        return true;
    }

    static synchronized void forEach(Consumer<Watch> visitor) {
        for (int tag = 0; tag < used; tag++) {
            if (byTag[tag] != null) {
                visitor.accept(byTag[tag]);
            }
        }
    }

    public static synchronized int size() {
        return used - freed;
    }
}
