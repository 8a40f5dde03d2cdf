package dev.ebb.djl.core.managers;

import dev.ebb.djl.core.Reflection;
import dev.ebb.djl.core.watching.Loose;
import dev.ebb.djl.core.watching.Watch;
import dev.ebb.djl.hooks.Hooks;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** The fields of DJL's {@code BaseNDManager} that Ebb reads; one for each class loader that has DJL. */
public final class ManagerShape {

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
    private final Field capped;
    private final Field closed;
    private final Field lentResource;
    private final Field lentManager;
    private final Field lentDetached;
    private final Constructor<?> lent;

    private ManagerShape(Class<?> base) {
        try {
            resources = Reflection.open(base, "resources");
            if (resources.getType() != ConcurrentHashMap.class) {
                throw new NoSuchFieldException("resources of type ConcurrentHashMap");
            }
            tempResources = Reflection.open(base, "tempResources");
            device = Reflection.open(base, "device");
            name = Reflection.open(base, "name");
            parent = Reflection.open(base, "parent");
            capped = Reflection.open(base, "capped");
            closed = Reflection.open(base, "closed");
            Class<?> lending = Class.forName(BASE + "$TempResource", false, base.getClassLoader());
            lentResource = Reflection.open(lending, "resource");
            lentManager = Reflection.open(lending, "manager");
            lentDetached = Reflection.open(lending, "detached");
            lent = lending.getDeclaredConstructor(lentResource.getType(), lentManager.getType());
            lent.setAccessible(true);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static ManagerShape of(Object manager) {
        return SHAPES.get(manager.getClass());
    }

    /** The manager's map, if it is one of Ebb's. */
    public static ManagerMap mapOf(Object manager) {
        return Reflection.read(of(manager).resources, manager) instanceof ManagerMap map ? map : null;
    }

    /** Gives a manager that is older than the agent Ebb's maps, with what is in its own. */
    void takeOver(Object manager, Hooks.Target hooks) {
        synchronized (manager) { // as DJL's methods that attach and detach
            Reflection.write(resources, manager, hooks.resources(manager, table(resources, manager)));
            Reflection.write(tempResources, manager, hooks.tempResources(manager, table(tempResources, manager)));
        }
    }

    Collection<Object> resources(Object manager) {
        return table(resources, manager).values();
    }

    @SuppressWarnings("unchecked") // DJL's fields say so
    private ConcurrentHashMap<String, Object> table(Field field, Object manager) {
        return (ConcurrentHashMap<String, Object>) Reflection.read(field, manager);
    }

    /** The watch of an array, by its manager and name; null if it has none there. */
    public static Watch watchOf(Object manager, String uid) {
        ManagerMap map = manager == null ? null : mapOf(manager);
        Watch attached = map == null ? null : map.watchOf(uid);
        return attached != null ? attached : Loose.TABLE.find(uid);
    }

    public String deviceOf(Object manager) {
        return String.valueOf(Reflection.read(device, manager));
    }

    public boolean isOfEngine(Object manager) {
        return Reflection.read(parent, manager) == null;
    }

    /** Whether it takes more resources. */
    boolean accepts(Object manager) {
        return !isSet(capped, manager) && !isSet(closed, manager);
    }

    private static boolean isSet(Field flag, Object manager) {
        return ((AtomicBoolean) Reflection.read(flag, manager)).get();
    }

    /** What a report calls it. Few texts, because the core keeps them for ever. */
    String label(Object manager) {
        if (isOfEngine(manager)) {
            return "system manager";
        }
        Object given = Reflection.read(name, manager);
        return given == null ? "sub-manager" : "manager " + given;
    }

    Object lentResource(Object loan) {
        return Reflection.read(lentResource, loan);
    }

    Object lentManager(Object loan) {
        return Reflection.read(lentManager, loan);
    }

    boolean lentDetached(Object loan) {
        return (boolean) Reflection.read(lentDetached, loan);
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
}
