package dev.ebb.djl.core.observe;

import java.util.Arrays;

/** The objects of a dump that may lead to others: by their id, where they are in the file. */
final class HeapObjects {

    private long[] ids = new long[1 << 16];
    private long[] places = new long[1 << 16];
    private int[] table; // places in ids + 1, by hash; 0: free
    int count;

    void add(long id, long place) {
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, count + count / 2);
            places = Arrays.copyOf(places, ids.length);
        }
        ids[count] = id;
        places[count++] = place;
    }

    /** After the last one. */
    void index() {
        table = new int[Integer.highestOneBit(Math.max(1, count)) * 4];
        for (int i = 0; i < count; i++) {
            int slot = hash(ids[i]);
            while (table[slot] != 0) {
                slot = slot + 1 & table.length - 1;
            }
            table[slot] = i + 1;
        }
    }

    /** -1: it leads nowhere. */
    int find(long id) {
        for (int slot = hash(id); table[slot] != 0; slot = slot + 1 & table.length - 1) {
            if (ids[table[slot] - 1] == id) {
                return table[slot] - 1;
            }
        }
        return -1;
    }

    long idOf(int object) {
        return ids[object];
    }

    long placeOf(int object) {
        return places[object];
    }

    private int hash(long id) {
        return (int) (id * 0x9E3779B97F4A7C15L >>> 33) & table.length - 1;
    }
}
