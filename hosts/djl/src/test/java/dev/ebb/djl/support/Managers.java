package dev.ebb.djl.support;

import ai.djl.ndarray.BaseNDManager;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** What tests look at in DJL's manager tree. */
public final class Managers {
    private Managers() {}

    /** The manager above all others, which never closes. */
    public static NDManager system() {
        NDManager manager = NDManager.newBaseManager();
        try (manager) {
            return manager.getParentManager();
        }
    }

    /** How many arrays and sub-managers hang on a manager directly. */
    public static int resources(NDManager manager) {
        try {
            Field field = BaseNDManager.class.getDeclaredField("resources");
            field.setAccessible(true);
            return ((Map<?, ?>) field.get(manager)).size();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** What {@code debugDump} prints. */
    public static String dump(NDManager manager) {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            ((BaseNDManager) manager).debugDump(0);
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** Whether the array can still be used; a closed one throws. */
    public static boolean isOpen(NDArray array) {
        try {
            array.toByteBuffer();
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /** {@code attachInternal}, which takes one resource in 0.20.0 and any number later. */
    public static void attach(NDManager manager, String id, AutoCloseable resource) {
        try {
            for (Method method : NDManager.class.getMethods()) {
                if (method.getName().equals("attachInternal")) {
                    Object given = method.isVarArgs() ? new AutoCloseable[] {resource} : resource;
                    method.invoke(manager, id, given);
                    return;
                }
            }
            throw new AssertionError("NDManager has no attachInternal");
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Keeps what was made before alive to this line, whatever the JIT thinks of it. */
    public static void holding(Object... resources) {
        Reference.reachabilityFence(resources);
    }

    /** DJL's {@code NDScope}, which 0.20.0 does not have: null there. */
    public static AutoCloseable newScope() {
        try {
            return (AutoCloseable) Class.forName("ai.djl.ndarray.NDScope").getConstructor().newInstance();
        } catch (ClassNotFoundException e) {
            return null;
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    public static void unregisterFromScope(NDArray array) {
        try {
            Method method = Class.forName("ai.djl.ndarray.NDScope").getMethod("unregister", NDArray.class);
            method.invoke(null, array);
        } catch (ClassNotFoundException | NoSuchMethodException | IllegalAccessException e) {
            throw new AssertionError(e);
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        }
    }
}
