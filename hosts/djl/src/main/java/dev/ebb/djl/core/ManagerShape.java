package dev.ebb.djl.core;

import dev.ebb.djl.hooks.Hooks;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;

/** The fields of DJL's {@code BaseNDManager} that Ebb reads; one for each class loader that has DJL. */
final class ManagerShape {

    private static final String BASE = "ai.djl.ndarray.BaseNDManager";
    private static final ClassValue<ManagerShape> SHAPES =
            new ClassValue<>() {
                @Override
                protected ManagerShape computeValue(Class<?> type) {
                    return type.getName().equals(BASE) || type.getSuperclass() == null
                            ? new ManagerShape(type)
                            : SHAPES.get(type.getSuperclass());
                }
            };

    private final Field resources;
    private final Field tempResources;
    private final Field device;
    private final Field name;
    private final Field parent;
    private final Field lentResource;
    private final Field lentManager;
    private final Field lentDetached;
    private final Constructor<?> lent;

    private ManagerShape(Class<?> base) {
        try {
            resources = open(base, "resources");
            if (resources.getType() != ConcurrentHashMap.class) {
                throw new NoSuchFieldException("resources of type ConcurrentHashMap");
            }
            tempResources = open(base, "tempResources");
            device = open(base, "device");
            name = open(base, "name");
            parent = open(base, "parent");
            Class<?> lending = Class.forName(BASE + "$TempResource", false, base.getClassLoader());
            lentResource = open(lending, "resource");
            lentManager = open(lending, "manager");
            lentDetached = open(lending, "detached");
            lent = lending.getDeclaredConstructor(lentResource.getType(), lentManager.getType());
            lent.setAccessible(true);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Field open(Class<?> type, String name) throws NoSuchFieldException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    static ManagerShape of(Object manager) {
        return SHAPES.get(manager.getClass());
    }

    /** The manager's map, if it is one of Ebb's. */
    static ManagerMap mapOf(Object manager) {
        return of(manager).get(of(manager).resources, manager) instanceof ManagerMap map ? map : null;
    }

    /** Gives a manager that is older than the agent Ebb's maps, with what is in its own. */
    void takeOver(Object manager, Hooks.Target hooks) {
        synchronized (manager) { // as DJL's methods that attach and detach
            set(resources, manager, hooks.resources(manager, table(resources, manager)));
            set(tempResources, manager, hooks.tempResources(manager, table(tempResources, manager)));
        }
    }

    Collection<Object> resources(Object manager) {
        return table(resources, manager).values();
    }

    @SuppressWarnings("unchecked") // DJL's fields say so
    private ConcurrentHashMap<String, Object> table(Field field, Object manager) {
        return (ConcurrentHashMap<String, Object>) get(field, manager);
    }

    private static void set(Field field, Object manager, Object table) {
        try {
            field.set(manager, table);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The watch of an array, by its manager and name; null if it has none there. */
    static Watch watchOf(Object manager, String uid) {
        ManagerMap map = manager == null ? null : mapOf(manager);
        Watch attached = map == null ? null : map.watchOf(uid);
        return attached != null ? attached : Loose.TABLE.find(uid);
    }

    String deviceOf(Object manager) {
        return String.valueOf(get(device, manager));
    }

    boolean isOfEngine(Object manager) {
        return get(parent, manager) == null;
    }

    /** What a report calls it. Few texts, because the core keeps them for ever. */
    String label(Object manager) {
        if (isOfEngine(manager)) {
            return "system manager";
        }
        Object given = get(name, manager);
        return given == null ? "sub-manager" : "manager " + given;
    }

    Object lentResource(Object loan) {
        return get(lentResource, loan);
    }

    Object lentManager(Object loan) {
        return get(lentManager, loan);
    }

    boolean lentDetached(Object loan) {
        return (boolean) get(lentDetached, loan);
    }

    /** DJL's record of a loan, made anew. */
    Object loan(Object resource, Object manager, boolean detached) {
        try {
            Object loan = lent.newInstance(resource, manager);
            lentDetached.setBoolean(loan, detached);
            return loan;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private Object get(Field field, Object object) {
        try {
            return field.get(object);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
