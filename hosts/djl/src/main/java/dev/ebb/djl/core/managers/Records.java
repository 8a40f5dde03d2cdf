package dev.ebb.djl.core.managers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * A manager's records by name. Walks cost what is there, not what once was: the JDK's table never shrinks, so a walk
 * that finds far fewer than there have been moves them to a new one.
 *
 * <p>Moving, {@code former} is set before {@code table}; an entry is put into the new table before it leaves the former.
 * Who reads looks in the former first, and again if the table has changed meanwhile; who has put into a table that is
 * not the table any more carries its entry over. Walks and moving exclude each other.
 */
final class Records {

    private static final long LEAST = 1024;
    private static final int SPARSE = 8;

    private volatile ConcurrentHashMap<String, Object> table = new ConcurrentHashMap<>();
    private volatile ConcurrentHashMap<String, Object> former;
    private long most; // entries since the table is there; lossy, only says when to move

    Object put(String uid, Object record) {
        ConcurrentHashMap<String, Object> old = former;
        if (old != null) {
            carry(old, uid);
        }
        ConcurrentHashMap<String, Object> now = table;
        Object before = now.put(uid, record);
        if (table != now) {
            carry(now, uid);
        }
        return before;
    }

    private void carry(ConcurrentHashMap<String, Object> from, String uid) {
        from.computeIfPresent(
                uid,
                (key, record) -> {
                    table.put(key, record);
                    return null;
                });
    }

    Object get(Object uid) {
        while (true) {
            ConcurrentHashMap<String, Object> now = table;
            ConcurrentHashMap<String, Object> old = former;
            Object found = old == null ? null : old.get(uid);
            if (found == null) {
                found = now.get(uid);
            }
            if (found != null || table == now) {
                return found;
            }
        }
    }

    Object remove(Object uid) {
        while (true) {
            ConcurrentHashMap<String, Object> now = table;
            ConcurrentHashMap<String, Object> old = former;
            Object found = old == null ? null : old.remove(uid);
            if (found == null) {
                found = now.remove(uid);
            }
            if (found != null || table == now) {
                count(now);
                return found;
            }
        }
    }

    void remove(String uid, Object record) {
        while (true) {
            ConcurrentHashMap<String, Object> now = table;
            ConcurrentHashMap<String, Object> old = former;
            if ((old != null && old.remove(uid, record)) || now.remove(uid, record) || table == now) {
                count(now);
                return;
            }
        }
    }

    private void count(ConcurrentHashMap<String, Object> now) {
        long left = now.mappingCount();
        if (left >= most) {
            most = left + 1;
        }
    }

    synchronized List<Object> all() {
        if (most > LEAST && table.mappingCount() * SPARSE < most) {
            move();
        }
        return new ArrayList<>(table.values());
    }

    synchronized void forEach(BiConsumer<String, Object> action) {
        table.forEach(action);
    }

    private void move() {
        ConcurrentHashMap<String, Object> old = table;
        most = 0;
        former = old;
        table = new ConcurrentHashMap<>();
        for (String uid : old.keySet()) {
            carry(old, uid);
        }
        former = null;
    }

    synchronized void clear() {
        count(table);
        table.clear();
    }
}
