package dev.ebb.djl.core.managers;

import dev.ebb.djl.core.Reflection;
import dev.ebb.djl.core.books.Escapes;
import dev.ebb.djl.core.books.Sites;
import dev.ebb.djl.core.engines.EngineAdapter;
import dev.ebb.djl.core.engines.Kinds;
import dev.ebb.djl.core.watching.ManagerWatch;
import java.lang.reflect.Field;
import java.util.List;

/**
 * Whose the result of an operation is: its first operand's manager's, as in stock DJL, or that of the operands' managers
 * that ends first, so that the order of two words decides nothing. The rule is the core's ({@code
 * ebb_region_shortest_lived}): the deeper manager, of equals the one made last. Here it is asked of DJL's managers
 * themselves, because most results have ended before the core hears of them.
 */
public final class Ownership {

    private static volatile boolean usual; // of managers of which nothing was said
    private static volatile boolean asked; // of any

    private Ownership() {}

    /** From now on, {@code "first"} or {@code "shortest"}, for a manager with those below it; null: for all others. */
    public static void set(Object manager, String rule) {
        boolean shortest = rule != null && rule.equalsIgnoreCase("shortest");
        if (!shortest && (rule == null || !rule.equalsIgnoreCase("first"))) {
            throw new IllegalArgumentException("[ownership] '" + rule + "' was given, first or shortest is allowed");
        }
        asked |= shortest;
        if (manager == null) {
            usual = shortest;
            return;
        }
        ManagerMap map = Kinds.of(manager) == Kinds.MANAGER ? ManagerShape.mapOf(manager) : null;
        if (map == null) {
            throw new IllegalArgumentException("[ownership] no manager of an engine that Ebb knows was given: " + manager);
        }
        map.watch.shortest = shortest;
    }

    /** Whether somebody wants to know of results. */
    public static boolean watches() {
        return asked || Sites.wanted();
    }

    /** After an operation; {@code given} has its operands, in lists too, and what else it was given. */
    public static void assign(Object result, Object[] given) {
        ManagerWatch shortest = null;
        for (Object each : given) {
            shortest = shortestOf(shortest, each);
        }
        if (shortest == null) {
            return;
        }
        if (result instanceof List<?> results) {
            for (Object each : results) {
                assign(each, shortest, given);
            }
        } else if (result != null) {
            assign(result, shortest, given);
        }
    }

    private static ManagerWatch shortestOf(ManagerWatch known, Object given) {
        ManagerWatch shortest = known;
        if (given instanceof List<?> list) {
            for (Object each : list) {
                shortest = shortestOf(shortest, each);
            }
        } else if (given instanceof Object[] array) {
            for (Object each : array) {
                shortest = shortestOf(shortest, each);
            }
        } else if (given != null) {
            Object[] arrays = Indices.of(given);
            if (arrays != null) {
                return shortestOf(shortest, arrays);
            }
            ManagerWatch own = watchOfManager(given);
            shortest = own != null && (shortest == null || own.endsBefore(shortest)) ? own : shortest;
        }
        return shortest;
    }

    private static ManagerWatch watchOfManager(Object array) {
        if (!(Kinds.of(array) instanceof EngineAdapter adapter)) {
            return null;
        }
        Object manager = adapter.manager(array);
        ManagerMap map = manager == null ? null : ManagerShape.mapOf(manager);
        return map == null ? null : map.watch;
    }

    private static void assign(Object result, ManagerWatch shortest, Object[] given) {
        ManagerWatch owner = watchOfManager(result);
        if (owner == null || !shortest.endsBefore(owner) || isAmong(result, given)) {
            return;
        }
        Object manager = shortest.get();
        boolean moves = isAsked(shortest) && manager != null && ManagerShape.of(manager).accepts(manager);
        if (Sites.wanted()) {
            Escapes.count(owner.map.label(), shortest.map.label(), bytesOf(result), moves);
        }
        if (moves) {
            ((EngineAdapter) Kinds.of(result)).attach(result, manager);
        }
    }

    private static boolean isAsked(ManagerWatch manager) {
        for (ManagerWatch each = manager; each != null; each = each.parent()) {
            if (each.shortest != null) {
                return each.shortest;
            }
        }
        return usual;
    }

    private static boolean isAmong(Object result, Object[] given) {
        for (Object each : given) {
            if (each == result) {
                return true;
            }
        }
        return false;
    }

    private static long bytesOf(Object array) {
        EngineAdapter adapter = (EngineAdapter) Kinds.of(array);
        Object handle = adapter.peek(adapter.holder(array));
        return handle == null ? 0 : adapter.bytes(array, handle);
    }

    /** The arrays of an {@code NDIndex}. */
    private static final class Indices {

        private static final String INDEX = "ai.djl.ndarray.index.NDIndex";
        private static final ClassValue<Field> FIELDS =
                new ClassValue<>() {
                    @Override
                    protected Field computeValue(Class<?> type) {
                        try {
                            return Reflection.open(type, type.getName().equals(INDEX) ? "indices" : "index");
                        } catch (NoSuchFieldException e) {
                            return null; // a number, a range
                        }
                    }
                };

        /** Null if it is none. */
        static Object[] of(Object given) {
            if (!given.getClass().getName().equals(INDEX)) {
                return null;
            }
            List<?> elements = (List<?>) Reflection.read(FIELDS.get(given.getClass()), given);
            return elements.stream().map(Indices::array).toArray();
        }

        private static Object array(Object element) {
            Field index = FIELDS.get(element.getClass());
            Object found = index == null ? null : Reflection.read(index, element);
            return found != null && Kinds.of(found) instanceof EngineAdapter ? found : null;
        }
    }
}
