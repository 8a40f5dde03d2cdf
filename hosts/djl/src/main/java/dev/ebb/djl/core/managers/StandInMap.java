package dev.ebb.djl.core.managers;

import java.util.Collections;
import java.util.Enumeration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.DoubleBinaryOperator;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.LongBinaryOperator;
import java.util.function.ToDoubleBiFunction;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntBiFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongBiFunction;
import java.util.function.ToLongFunction;

/**
 * A {@code ConcurrentHashMap} because DJL's fields ask for one, with entries of its own: the superclass stays empty.
 * What reads goes by {@link #alive}. What else DJL calls the subclasses say; a call that no supported version of DJL
 * makes is an error that says so, because the superclass would answer as if nothing were there.
 */
abstract class StandInMap extends ConcurrentHashMap<String, Object> {

    private static final long serialVersionUID = 1L;

    /** A copy of what DJL may see. */
    abstract ConcurrentHashMap<String, Object> alive();

    private static UnsupportedOperationException unexpected() {
        return new UnsupportedOperationException(
                "[ebb] this version of DJL uses a map of managers in a way that Ebb does not know. Supported: DJL"
                        + " 0.20.0 to 0.35.1; without -javaagent:ebb-djl.jar it runs");
    }

    // ---- reading

    @Override
    public Object get(Object uid) {
        return alive().get(uid);
    }

    @Override
    public Object getOrDefault(Object uid, Object other) {
        Object found = get(uid);
        return found == null ? other : found;
    }

    @Override
    public boolean containsKey(Object uid) {
        return get(uid) != null;
    }

    @Override
    public boolean containsValue(Object resource) {
        return values().contains(resource);
    }

    @Override
    public boolean contains(Object resource) {
        return containsValue(resource);
    }

    @Override
    public int size() {
        return values().size();
    }

    @Override
    public long mappingCount() {
        return size();
    }

    @Override
    public boolean isEmpty() {
        return size() == 0;
    }

    @Override
    public void forEach(BiConsumer<? super String, ? super Object> action) {
        alive().forEach(action);
    }

    @Override
    public Set<Map.Entry<String, Object>> entrySet() {
        return alive().entrySet();
    }

    @Override
    public KeySetView<String, Object> keySet() {
        return alive().keySet();
    }

    @Override
    public Enumeration<String> keys() {
        return alive().keys();
    }

    @Override
    public Enumeration<Object> elements() {
        return Collections.enumeration(values());
    }

    @Override
    public String toString() {
        return alive().toString();
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    // ---- writing

    @Override
    public void putAll(Map<? extends String, ?> others) {
        others.forEach(this::put);
    }

    @Override
    public Object remove(Object uid) {
        throw unexpected();
    }

    @Override
    public boolean remove(Object uid, Object resource) {
        throw unexpected();
    }

    @Override
    public Object putIfAbsent(String uid, Object resource) {
        throw unexpected();
    }

    @Override
    public boolean replace(String uid, Object before, Object after) {
        throw unexpected();
    }

    @Override
    public Object replace(String uid, Object after) {
        throw unexpected();
    }

    @Override
    public void replaceAll(BiFunction<? super String, ? super Object, ?> change) {
        throw unexpected();
    }

    @Override
    public Object computeIfAbsent(String uid, Function<? super String, ?> make) {
        throw unexpected();
    }

    @Override
    public Object computeIfPresent(String uid, BiFunction<? super String, ? super Object, ?> change) {
        throw unexpected();
    }

    @Override
    public Object compute(String uid, BiFunction<? super String, ? super Object, ?> change) {
        throw unexpected();
    }

    @Override
    public Object merge(String uid, Object resource, BiFunction<? super Object, ? super Object, ?> change) {
        throw unexpected();
    }

    @Override
    public KeySetView<String, Object> keySet(Object mapped) {
        throw unexpected();
    }

    // ---- in bulk

    @Override
    public void forEach(long p, BiConsumer<? super String, ? super Object> a) {
        throw unexpected();
    }

    @Override
    public <U> void forEach(long p, BiFunction<? super String, ? super Object, ? extends U> t, Consumer<? super U> a) {
        throw unexpected();
    }

    @Override
    public <U> U search(long p, BiFunction<? super String, ? super Object, ? extends U> s) {
        throw unexpected();
    }

    @Override
    public <U> U reduce(long p, BiFunction<? super String, ? super Object, ? extends U> t, BiFunction<? super U,
            ? super U, ? extends U> r) {
        throw unexpected();
    }

    @Override
    public double reduceToDouble(long p, ToDoubleBiFunction<? super String, ? super Object> t, double b,
            DoubleBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public long reduceToLong(long p, ToLongBiFunction<? super String, ? super Object> t, long b, LongBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public int reduceToInt(long p, ToIntBiFunction<? super String, ? super Object> t, int b, IntBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public void forEachKey(long p, Consumer<? super String> a) {
        throw unexpected();
    }

    @Override
    public <U> void forEachKey(long p, Function<? super String, ? extends U> t, Consumer<? super U> a) {
        throw unexpected();
    }

    @Override
    public <U> U searchKeys(long p, Function<? super String, ? extends U> s) {
        throw unexpected();
    }

    @Override
    public String reduceKeys(long p, BiFunction<? super String, ? super String, ? extends String> r) {
        throw unexpected();
    }

    @Override
    public <U> U reduceKeys(long p, Function<? super String, ? extends U> t, BiFunction<? super U, ? super U,
            ? extends U> r) {
        throw unexpected();
    }

    @Override
    public double reduceKeysToDouble(long p, ToDoubleFunction<? super String> t, double b, DoubleBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public long reduceKeysToLong(long p, ToLongFunction<? super String> t, long b, LongBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public int reduceKeysToInt(long p, ToIntFunction<? super String> t, int b, IntBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public void forEachValue(long p, Consumer<? super Object> a) {
        throw unexpected();
    }

    @Override
    public <U> void forEachValue(long p, Function<? super Object, ? extends U> t, Consumer<? super U> a) {
        throw unexpected();
    }

    @Override
    public <U> U searchValues(long p, Function<? super Object, ? extends U> s) {
        throw unexpected();
    }

    @Override
    public Object reduceValues(long p, BiFunction<? super Object, ? super Object, ? extends Object> r) {
        throw unexpected();
    }

    @Override
    public <U> U reduceValues(long p, Function<? super Object, ? extends U> t, BiFunction<? super U, ? super U,
            ? extends U> r) {
        throw unexpected();
    }

    @Override
    public double reduceValuesToDouble(long p, ToDoubleFunction<? super Object> t, double b, DoubleBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public long reduceValuesToLong(long p, ToLongFunction<? super Object> t, long b, LongBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public int reduceValuesToInt(long p, ToIntFunction<? super Object> t, int b, IntBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public void forEachEntry(long p, Consumer<? super Map.Entry<String, Object>> a) {
        throw unexpected();
    }

    @Override
    public <U> void forEachEntry(long p, Function<Map.Entry<String, Object>, ? extends U> t, Consumer<? super U> a) {
        throw unexpected();
    }

    @Override
    public <U> U searchEntries(long p, Function<Map.Entry<String, Object>, ? extends U> s) {
        throw unexpected();
    }

    @Override
    public Map.Entry<String, Object> reduceEntries(long p, BiFunction<Map.Entry<String, Object>, Map.Entry<String,
            Object>, ? extends Map.Entry<String, Object>> r) {
        throw unexpected();
    }

    @Override
    public <U> U reduceEntries(long p, Function<Map.Entry<String, Object>, ? extends U> t, BiFunction<? super U,
            ? super U, ? extends U> r) {
        throw unexpected();
    }

    @Override
    public double reduceEntriesToDouble(long p, ToDoubleFunction<Map.Entry<String, Object>> t, double b,
            DoubleBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public long reduceEntriesToLong(long p, ToLongFunction<Map.Entry<String, Object>> t, long b, LongBinaryOperator r) {
        throw unexpected();
    }

    @Override
    public int reduceEntriesToInt(long p, ToIntFunction<Map.Entry<String, Object>> t, int b, IntBinaryOperator r) {
        throw unexpected();
    }
}
