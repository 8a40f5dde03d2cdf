package dev.ebb.djl.agent;

import java.lang.instrument.Instrumentation;
import java.util.concurrent.atomic.AtomicBoolean;

/** {@code -javaagent:ebb-djl.jar}. Whatever goes wrong is said in one line, and the program runs as without Ebb. */
public final class Agent {

    private static final AtomicBoolean INSTALLED = new AtomicBoolean();

    private Agent() {}

    /** At the start of the JVM. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        install(instrumentation);
    }

    /** Into a running JVM; managers that exist already stay as they are. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        install(instrumentation);
    }

    private static void install(Instrumentation instrumentation) {
        if (INSTALLED.getAndSet(true)) {
            System.err.println("[ebb] ebb-djl is given as -javaagent twice; once is enough");
            return;
        }
        try {
            // Byte Buddy would try sun.misc.Unsafe, of which newer JVMs complain; nothing here needs it. (Relocated with it.)
            System.setProperty("net.bytebuddy.safe", "true");
            Weaver.install(instrumentation);
        } catch (Throwable e) {
            System.err.println("[ebb] the agent could not start, the program runs without it: " + e);
        }
    }
}
