package dev.ebb.spark;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import org.apache.spark.memory.MemoryMode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Spark 4.1 and later ask consumers outside of its memory manager what they hold, and take it off what tasks get
 * ({@code spark.memory.unmanagedMemoryPollingInterval} says how often). By reflection: Spark 3.5 has no such thing.
 */
final class UnmanagedMemory {

    private static final Logger LOG = LoggerFactory.getLogger(UnmanagedMemory.class);
    private static final String PACKAGE = "org.apache.spark.memory.";

    private UnmanagedMemory() {}

    /** Whether this Spark counts it now. */
    static boolean register(EbbAgent agent) {
        try {
            ClassLoader loader = MemoryMode.class.getClassLoader();
            Class<?> consumer = Class.forName(PACKAGE + "UnmanagedMemoryConsumer", false, loader);
            Object id =
                    Class.forName(PACKAGE + "UnmanagedMemoryConsumerId", true, loader)
                            .getConstructor(String.class, String.class)
                            .newInstance("ebb", "djl");
            Object asked =
                    Proxy.newProxyInstance(
                            loader, new Class<?>[] {consumer}, (proxy, called, given) -> answer(agent, id, proxy, called, given));
            Class.forName(PACKAGE + "UnifiedMemoryManager", true, loader)
                    .getMethod("registerUnmanagedMemoryConsumer", consumer)
                    .invoke(null, asked);
            return true;
        } catch (ClassNotFoundException e) {
            return false; // before 4.1
        } catch (ReflectiveOperationException e) {
            Throwable cause = e instanceof InvocationTargetException ? e.getCause() : e;
            LOG.warn("[ebb] this Spark's UnmanagedMemoryConsumer is not as Ebb knows it", cause);
            return false;
        }
    }

    private static Object answer(EbbAgent agent, Object id, Object proxy, Method called, Object[] given) {
        return switch (called.getName()) {
            case "unmanagedMemoryConsumerId" -> id;
            case "memoryMode" -> MemoryMode.OFF_HEAP;
            case "getMemBytesUsed" -> agent.look().getOrDefault("liveBytes", 0L);
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == given[0];
            case "toString" -> "ebb";
            default -> throw new UnsupportedOperationException(called.getName());
        };
    }
}
