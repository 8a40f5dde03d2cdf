package dev.ebb.djl.junit;

import dev.ebb.djl.Ebb;
import dev.ebb.djl.LeakCheck;
import dev.ebb.djl.Memory;
import dev.ebb.djl.core.Control;
import dev.ebb.djl.core.books.LeakWatch;
import dev.ebb.djl.core.observe.Json;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;

/** Holds tests against their {@link MemoryBudget}. */
final class MemoryBudgetExtension implements InvocationInterceptor {

    @Override
    public void interceptTestMethod(
            Invocation<Void> test, ReflectiveInvocationContext<Method> called, ExtensionContext context) throws Throwable {
        check(test, called, context);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> test, ReflectiveInvocationContext<Method> called, ExtensionContext context) throws Throwable {
        check(test, called, context);
    }

    private static void check(
            Invocation<Void> test, ReflectiveInvocationContext<Method> called, ExtensionContext context) throws Throwable {
        MemoryBudget budget =
                AnnotationSupport.findAnnotation(called.getExecutable(), MemoryBudget.class)
                        .or(() -> AnnotationSupport.findAnnotation(context.getRequiredTestClass(), MemoryBudget.class))
                        .orElseThrow();
        Limits limits = Limits.of(budget);
        for (int i = 0; i < budget.warmups(); i++) {
            Method method = called.getExecutable();
            method.setAccessible(true);
            method.invoke(called.getTarget().orElse(null), called.getArguments().toArray());
        }
        Ebb.collect();
        Memory before = Ebb.memory();
        LeakCheck leaks = Ebb.expectNoLeaks();
        Peak peak = limits.peak < 0 ? null : new Peak(before.liveBytes());
        List<String> dropped;
        try {
            test.proceed();
        } finally {
            limits.most = peak == null ? 0 : peak.end();
            dropped = leaks.leaks();
        }
        limits.check(before, Ebb.memory(), dropped);
    }

    /** -1: any. */
    private static final class Limits {
        private long peak = -1;
        private long leaked = -1;
        private long created = -1;
        private int leaks;
        private long most;

        static Limits of(MemoryBudget budget) throws IOException {
            Limits limits = new Limits();
            if (!budget.file().isEmpty()) {
                limits.read(Json.read(Files.readString(Path.of(budget.file()))));
            }
            if (!budget.peak().isEmpty()) {
                limits.peak = Control.current().parse(budget.peak());
            }
            limits.leaks = budget.leaks();
            return limits;
        }

        private void read(Object file) {
            if (!(file instanceof Map<?, ?> given)) {
                throw new IllegalArgumentException("[MemoryBudget] a budget is an object: {\"peak\": \"256MB\"}");
            }
            for (Object name : given.keySet()) {
                switch ((String) name) {
                    case "peak" -> peak = bytes(given.get(name));
                    case "leaked" -> leaked = bytes(given.get(name));
                    case "created" -> created = bytes(given.get(name));
                    case "growing" -> {} // of recordings
                    default -> throw new IllegalArgumentException(
                            "[MemoryBudget] '" + name + "' was given, peak, leaked, created and growing are allowed");
                }
            }
        }

        private static long bytes(Object value) {
            return value instanceof Double number ? number.longValue() : Control.current().parse(String.valueOf(value));
        }

        void check(Memory before, Memory after, List<String> dropped) {
            List<String> over = new ArrayList<>();
            add(over, "peak", most, peak);
            add(over, "leaked", after.liveBytes() - before.liveBytes(), leaked);
            add(over, "created", after.createdBytes() - before.createdBytes(), created);
            if (leaks >= 0 && dropped.size() > leaks) {
                over.add(LeakWatch.message(dropped) + "\n  allowed: " + leaks);
            }
            if (!over.isEmpty()) {
                throw new AssertionError("[MemoryBudget] " + String.join("\n", over));
            }
        }

        private static void add(List<String> over, String what, long found, long allowed) {
            if (allowed >= 0 && found > allowed) {
                over.add(what + ": " + found + " bytes, allowed: " + allowed);
            }
        }
    }

    /** The most that is alive while a test runs, beyond what was before. What nobody can reach does not count. */
    private static final class Peak extends Thread {
        private static final int EACH_MS = 2;

        private final long before;
        private volatile boolean ends;
        private long most;

        Peak(long before) {
            super("ebb-budget");
            this.before = before;
            setDaemon(true);
            start();
        }

        @Override
        public void run() {
            while (!ends) {
                look();
                try {
                    Thread.sleep(EACH_MS);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }

        private synchronized void look() {
            if (Control.current().look().get("liveBytes") - before > most) {
                Ebb.collect();
                most = Math.max(most, Control.current().look().get("liveBytes") - before);
            }
        }

        long end() throws InterruptedException {
            look();
            ends = true;
            join();
            return most;
        }
    }
}
