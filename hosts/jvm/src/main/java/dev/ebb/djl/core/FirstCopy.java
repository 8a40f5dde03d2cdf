package dev.ebb.djl.core;

import dev.ebb.djl.EbbException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * Where the application brings a copy of ebb-djl of its own (a server's WEB-INF/lib): the agent's, which the JVM always
 * loads with the system's class loader. Calls to this copy are led there; only the JDK's types cross.
 */
final class FirstCopy {

    /** Set once the agent works. */
    static final String STARTED = "dev.ebb.djl.started";

    private FirstCopy() {}

    /** Whether an agent works in this JVM, and is not this copy's. */
    static boolean isAnother() {
        return System.getProperty(STARTED) != null && runtime() != EbbRuntime.class;
    }

    private static Class<?> runtime() {
        try {
            return Class.forName(EbbRuntime.class.getName(), true, ClassLoader.getSystemClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e); // the agent started from there
        }
    }

    /** Calls a public method of the agent's {@link EbbRuntime}; their names are unique. */
    static Object call(String name, Object... arguments) {
        Messages.say("this is a second copy of ebb-djl; its calls go to the agent's, the application needs none of its own");
        for (Method method : runtime().getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                return invoke(method, arguments);
            }
        }
        throw anotherVersion(name);
    }

    private static Object invoke(Method method, Object[] arguments) {
        try {
            return method.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            throw translated(e.getCause());
        } catch (IllegalAccessException | IllegalArgumentException e) {
            throw anotherVersion(method.getName());
        }
    }

    private static RuntimeException translated(Throwable thrown) {
        if (thrown.getClass().getName().equals(EbbException.class.getName())) {
            return new EbbException(thrown.getMessage());
        }
        return PyTorchAdapter.Library.unexpected(thrown);
    }

    private static EbbException anotherVersion(String call) {
        return new EbbException(
                "[" + call + "] this copy of ebb-djl is of another version than the agent's: leave it out of the"
                        + " application, or make them the same");
    }
}
