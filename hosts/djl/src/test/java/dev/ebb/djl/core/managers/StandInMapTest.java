package dev.ebb.djl.core.managers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** No call may reach the empty superclass, which would answer as if nothing were there. */
@Tag("once")
class StandInMapTest {

    /** Writes alone are the subclass's. */
    private static final class Plain extends StandInMap {
        private static final long serialVersionUID = 1L;
        private final transient ConcurrentHashMap<String, Object> entries = new ConcurrentHashMap<>();

        @Override
        ConcurrentHashMap<String, Object> alive() {
            return new ConcurrentHashMap<>(entries);
        }

        @Override
        public Object put(String uid, Object resource) {
            return entries.put(uid, resource);
        }

        @Override
        public List<Object> values() {
            return List.copyOf(entries.values());
        }
    }

    private static boolean declares(Class<?> type, Method method) {
        return Stream.of(type.getDeclaredMethods())
                .anyMatch(
                        own ->
                                own.getName().equals(method.getName())
                                        && List.of(own.getParameterTypes()).equals(List.of(method.getParameterTypes())));
    }

    private static TreeSet<String> missingIn(Class<?> type) {
        TreeSet<String> missing = new TreeSet<>();
        for (Method method : ConcurrentHashMap.class.getDeclaredMethods()) {
            boolean callable = Modifier.isPublic(method.getModifiers()) && !Modifier.isStatic(method.getModifiers());
            if (callable && !method.isBridge() && !declares(StandInMap.class, method) && !declares(type, method)) {
                missing.add(method.toString());
            }
        }
        return missing;
    }

    @Test
    void nothingIsLeftToTheSuperclass() {
        assertEquals(new TreeSet<>(), missingIn(ManagerMap.class));
        assertEquals(new TreeSet<>(), missingIn(LentMap.class));
        assertTrue(missingIn(Object.class).size() <= 3, () -> "put, values and clear only: " + missingIn(Object.class));
    }

    @Test
    void readingGoesByWhatIsAlive() {
        Plain map = new Plain();
        map.putAll(Map.of("a", 1, "b", 2));
        assertEquals(2, map.size());
        assertEquals(2, map.mappingCount());
        assertEquals(1, map.get("a"));
        assertEquals(7, map.getOrDefault("c", 7));
        assertTrue(map.containsKey("b") && map.containsValue(2) && map.contains(1) && !map.isEmpty());
        assertEquals(Map.of("a", 1, "b", 2).entrySet(), map.entrySet());
        assertEquals(2, map.keySet().size());
        assertTrue(map.elements().hasMoreElements() && map.keys().hasMoreElements());
    }

    @Test
    void whatDjlDoesNotCallIsAnErrorThatSaysWhatIsSupported() {
        Plain map = new Plain();
        var e = assertThrows(UnsupportedOperationException.class, () -> map.putIfAbsent("a", 1));
        assertTrue(e.getMessage().contains("0.35.1"), e.getMessage());
        assertThrows(UnsupportedOperationException.class, () -> map.reduceValues(1, (a, b) -> a));
    }
}
