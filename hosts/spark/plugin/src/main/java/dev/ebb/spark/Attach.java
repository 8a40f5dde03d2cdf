package dev.ebb.spark;

/** Loads an agent into a JVM by its process id: {@code Attach pid jar arguments}. By reflection: a JRE may not have it. */
public final class Attach {

    private Attach() {}

    public static void main(String[] arguments) {
        try {
            attach(arguments[0], arguments[1], arguments[2]);
        } catch (ReflectiveOperationException | LinkageError e) {
            System.out.println(e.getCause() == null ? e : e.getCause());
            System.exit(1);
        }
    }

    static void attach(String pid, String jar, String arguments) throws ReflectiveOperationException {
        Class<?> type = Class.forName("com.sun.tools.attach.VirtualMachine");
        Object machine = type.getMethod("attach", String.class).invoke(null, pid);
        try {
            type.getMethod("loadAgent", String.class, String.class).invoke(machine, jar, arguments);
        } finally {
            type.getMethod("detach").invoke(machine);
        }
    }
}
