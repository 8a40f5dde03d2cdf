package dev.ebb.djl.agent;

import dev.ebb.djl.core.Properties;
import dev.ebb.djl.core.managers.Takeover;
import java.lang.instrument.Instrumentation;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * {@code -javaagent:ebb-djl.jar=reclaim=true,budget=2GB}. The arguments are the properties without {@code ebb.}, and go
 * before them. Whatever goes wrong is said in one line, and the program runs as without Ebb.
 */
public final class Agent {

    private static final AtomicBoolean INSTALLED = new AtomicBoolean();

    private Agent() {}

    /** At the start of the JVM. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        install(arguments, instrumentation);
    }

    /** Into a running JVM. Where the agent is there already, the arguments count from now on. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        if (INSTALLED.get()) {
            Properties.apply(Properties.set(arguments));
            return;
        }
        install(arguments, instrumentation);
        Takeover.of(instrumentation.getAllLoadedClasses());
    }

    private static void install(String arguments, Instrumentation instrumentation) {
        if (INSTALLED.getAndSet(true)) {
            System.err.println("[ebb] ebb-djl is given as -javaagent twice; once is enough");
            Properties.apply(Properties.set(arguments)); // those of both count
            return;
        }
        try {
            Properties.set(arguments);
            Weaving.install(instrumentation);
        } catch (Throwable e) {
            System.err.println("[ebb] the agent could not start, the program runs without it: " + e);
        }
    }
}
