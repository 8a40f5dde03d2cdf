package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * Where the application brings a copy of ebb-djl of its own (a server's WEB-INF/lib): the agent's, which the JVM always
 * loads with the system's class loader. Calls to this copy are led there; only the JDK's types cross.
 */
final class FirstCopy {

    /** Set once the agent works. */
    static final String STARTED = "dev.ebb.djl.started";

    /** Every call goes to the agent's {@link Control}, whose methods' names are unique. */
    static final Control CONTROL =
            (Control)
                    Proxy.newProxyInstance(
                            Control.class.getClassLoader(),
                            new Class<?>[] {Control.class},
                            (proxy, called, arguments) -> call(called, arguments));

    private FirstCopy() {}

    /** Whether an agent works in this JVM, and is not this copy's. */
    static boolean isAnother() {
        return System.getProperty(STARTED) != null && agents() != Control.class;
    }

    private static Class<?> agents() {
        try {
            return Class.forName(Control.class.getName(), true, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e); // the agent started from there
        }
    }

    private static Object call(Method called, Object[] arguments) {
        Messages.say("this is a second copy of ebb-djl; its calls go to the agent's, the application needs none of its own");
        try {
            Object control = agents().getMethod("current").invoke(null);
            return agents().getMethod(called.getName(), called.getParameterTypes()).invoke(control, arguments);
        } catch (InvocationTargetException e) {
            throw translated(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw anotherVersion(called.getName());
        }
    }

    private static RuntimeException translated(Throwable thrown) {
        if (thrown.getClass().getName().equals(EbbException.class.getName())) {
            return new EbbException(thrown.getMessage());
        }
        return Reflection.unexpected(thrown);
    }

    private static EbbException anotherVersion(String call) {
        return new EbbException(
                "[" + call + "] this copy of ebb-djl is of another version than the agent's: leave it out of the"
                        + " application, or make them the same");
    }
}
