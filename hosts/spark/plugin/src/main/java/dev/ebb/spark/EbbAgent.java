package dev.ebb.spark;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What the plugin asks of ebb-djl's agent: methods of its {@code Control}, by their names. The JVM loads an agent with the
 * system's class loader, the plugin may be in a child of it, or in one that looks at its own jars first: only the JDK's types
 * cross.
 */
interface EbbAgent {

    boolean reclaim(boolean on);

    void budget(String device, String bytes);

    void strict(boolean on);

    void trace(boolean on);

    Map<String, Long> look();

    String lookReport(int top, boolean json);

    Map<String, long[]> reclaimedBySite();

    Function<Boolean, Map<String, Long>> openTask(String name);

    boolean tasksToReview();

    List<Map<String, Object>> reviewTasks();

    /** Whether an agent works in this JVM. */
    static boolean isThere() {
        return System.getProperty("dev.ebb.djl.started") != null;
    }

    /** The agent of this JVM. Throws an {@link IllegalStateException} if it is of another version. */
    static EbbAgent find() {
        try {
            Class<?> type = Class.forName("dev.ebb.djl.core.Control", true, ClassLoader.getSystemClassLoader());
            Object control = type.getMethod("current").invoke(null);
            for (Method wanted : EbbAgent.class.getMethods()) {
                if (!java.lang.reflect.Modifier.isStatic(wanted.getModifiers())) {
                    type.getMethod(wanted.getName(), wanted.getParameterTypes());
                }
            }
            return (EbbAgent)
                    Proxy.newProxyInstance(
                            EbbAgent.class.getClassLoader(),
                            new Class<?>[] {EbbAgent.class},
                            (proxy, called, arguments) -> call(type, control, called, arguments));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "the agent ebb-djl in this JVM is not of ebb-spark's version: make them the same", e);
        }
    }

    private static Object call(Class<?> type, Object control, Method called, Object[] arguments) throws Throwable {
        try {
            return type.getMethod(called.getName(), called.getParameterTypes()).invoke(control, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
