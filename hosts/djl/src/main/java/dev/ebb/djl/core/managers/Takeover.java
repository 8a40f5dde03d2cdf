package dev.ebb.djl.core.managers;

import dev.ebb.djl.core.Messages;
import dev.ebb.djl.core.Native;
import dev.ebb.djl.core.Reflection;
import dev.ebb.djl.core.engines.EngineAdapter;
import dev.ebb.djl.core.engines.Kinds;
import dev.ebb.djl.hooks.Hooks;
import java.util.List;

/** Managers that are older than the agent, which came into a running JVM: they get Ebb's maps, the inner ones first. */
public final class Takeover {

    private Takeover() {}

    /** All managers below those of the engines among these classes. */
    public static void of(Class<?>[] loaded) {
        for (Class<?> each : loaded) {
            if (Kinds.MANAGERS.contains(each.getName()) && Native.isInitialized(each)) {
                try {
                    takeOver(Reflection.open(each, "SYSTEM_MANAGER").get(null));
                } catch (ReflectiveOperationException | RuntimeException e) {
                    Messages.say("managers that were made before the agent came are left alone: " + e);
                }
            }
        }
    }

    private static void takeOver(Object manager) {
        ManagerShape shape = ManagerShape.of(manager);
        for (Object resource : List.copyOf(shape.resources(manager))) {
            if (Kinds.of(resource) == Kinds.MANAGER && Kinds.knowsManager(resource)) {
                takeOver(resource);
            }
        }
        shape.takeOver(manager, Hooks.target());
        ManagerMap map = ManagerShape.mapOf(manager);
        for (Object resource : map.values()) {
            if (Kinds.of(resource) instanceof EngineAdapter adapter) {
                map.keepAlias(resource, adapter);
            }
        }
    }
}
