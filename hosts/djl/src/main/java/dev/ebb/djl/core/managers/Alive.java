package dev.ebb.djl.core.managers;

import dev.ebb.djl.core.engines.EngineAdapter;
import dev.ebb.djl.core.engines.Kinds;
import dev.ebb.djl.core.watching.ManagerWatch;
import dev.ebb.djl.core.watching.Watch;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Collector;

/**
 * The resources of some records. Who walks over it holds one resource at a time, so that a collection meanwhile finds the
 * others dropped. Any other use (a size, an index, a change) makes it a list that holds them all.
 */
public final class Alive extends AbstractList<Object> {

    private final List<Object> records;
    private List<Object> held; // null: nothing but walks so far

    Alive(List<Object> records) {
        this.records = records;
    }

    /** For {@code getManagedArrays}, in place of the list that would hold them all at once. */
    public static Collector<Object, List<Object>, List<Object>> collector() {
        return Collector.of(
                ArrayList::new,
                (records, array) -> records.add(record(array)),
                (records, others) -> {
                    records.addAll(others);
                    return records;
                },
                Alive::new);
    }

    private static Object record(Object array) {
        Watch watch =
                Kinds.of(array) instanceof EngineAdapter adapter
                        ? ManagerShape.watchOf(adapter.manager(array), adapter.uid(array))
                        : null;
        return watch == null ? array : watch;
    }

    /** What a record stands for; null if the program has dropped it. */
    static Object resource(Object record) {
        if (record instanceof Watch array) {
            return array.get();
        }
        return record instanceof ManagerWatch manager ? manager.get() : record;
    }

    private List<Object> held() {
        if (held == null) {
            List<Object> all = new ArrayList<>();
            iterator().forEachRemaining(all::add);
            held = all;
        }
        return held;
    }

    @Override
    public Iterator<Object> iterator() {
        return held == null ? new Walk(records.iterator()) : held.iterator();
    }

    @Override
    public Spliterator<Object> spliterator() {
        return Spliterators.spliteratorUnknownSize(iterator(), Spliterator.ORDERED | Spliterator.NONNULL);
    }

    @Override
    public boolean isEmpty() {
        return !iterator().hasNext();
    }

    @Override
    public int size() {
        return held().size();
    }

    @Override
    public Object get(int index) {
        return held().get(index);
    }

    @Override
    public Object set(int index, Object resource) {
        return held().set(index, resource);
    }

    @Override
    public void add(int index, Object resource) {
        held().add(index, resource);
    }

    @Override
    public Object remove(int index) {
        return held().remove(index);
    }

    private static final class Walk implements Iterator<Object> {
        private final Iterator<Object> records;
        private Object next;

        Walk(Iterator<Object> records) {
            this.records = records;
        }

        @Override
        public boolean hasNext() {
            while (next == null && records.hasNext()) {
                next = resource(records.next());
            }
            return next != null;
        }

        @Override
        public Object next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            Object found = next;
            next = null;
            return found;
        }
    }
}
