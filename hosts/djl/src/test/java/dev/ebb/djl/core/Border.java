package dev.ebb.djl.core;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import dev.ebb.djl.Ebb;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Random calls of every native method, from several threads at once, with arguments that are null, wrong, closed, forged, huge
 * and negative; beside them a thread that uses DJL. Whatever is called: a value or an exception that says something, right
 * results in DJL, and in the end books that balance and nothing that is left.
 *
 * <pre>Border SECONDS SEED [CALLS of each thread]</pre>
 *
 * Addresses of tensors are believed, as by the engine's own library: where one goes straight to the engine's memory, it is 0 or
 * a tensor's.
 */
public final class Border {
    private static final int THREADS = 3;
    private static final long LONGEST_NANOS = 20_000_000_000L;

    private final List<Method> methods =
            Arrays.stream(Native.class.getDeclaredMethods())
                    .filter(method -> Modifier.isNative(method.getModifiers()))
                    .sorted(Comparator.comparing(Method::getName))
                    .toList();
    private final ConcurrentHashMap<String, LongAdder> calls = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, LongAdder> refused = new ConcurrentHashMap<>();
    private final List<String> faults = java.util.Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong results = new AtomicLong();
    private final Names names = new Names(Files.createTempDirectory("ebb-border"));
    private final long end;
    private final long most;

    private Border(double seconds, long most) throws IOException {
        end = System.nanoTime() + (long) (seconds * 1e9);
        this.most = most;
        methods.forEach(method -> method.setAccessible(true));
    }

    public static void main(String[] arguments) throws Exception {
        double seconds = Double.parseDouble(arguments[0]);
        long seed = Long.parseLong(arguments[1]);
        long most = arguments.length > 2 ? Long.parseLong(arguments[2]) : Long.MAX_VALUE;
        System.out.println("seed=" + seed);
        System.exit(new Border(seconds, most).run(seed) ? 0 : 1);
    }

    private boolean run(long seed) throws Exception {
        Ebb.reclaim(true);
        Ebb.collect();
        long before = Ebb.memory().live();
        NDManager manager = NDManager.newBaseManager();
        names.tensor(manager.ones(new Shape(3, 5)));
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(seed + i);
            threads.add(new Thread(() -> program(random), "border-" + i));
        }
        threads.forEach(Thread::start);
        compute(manager, threads);
        manager.close();
        names.endAll();
        for (int i = 0; i < 3; i++) {
            Ebb.collect();
        }
        Ebb.audit();
        long left = Ebb.memory().live() - before;
        if (left != 0) {
            faults.add(left + " arrays left");
        }
        return report();
    }

    private boolean report() {
        for (Method method : methods) {
            if (!calls.containsKey(method.getName())) {
                faults.add(method.getName() + " was not called");
            }
        }
        faults.forEach(fault -> System.out.println("FAULT " + fault));
        System.out.println("methods=" + methods.size());
        System.out.println("calls=" + sum(calls));
        System.out.println("refused=" + sum(refused));
        System.out.println("results=" + results);
        System.out.println("faults=" + faults.size());
        return faults.isEmpty();
    }

    private static long sum(ConcurrentHashMap<String, LongAdder> counts) {
        return counts.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /** DJL goes on beside it, and is right; a budget that a call has set may refuse an array. */
    private void compute(NDManager manager, List<Thread> threads) throws InterruptedException {
        for (int value = 0; threads.stream().anyMatch(Thread::isAlive); value = (value + 1) % 100) {
            try {
                float sum = manager.full(new Shape(100), (float) value).add(1).sum().getFloat();
                if (sum != 100f * (value + 1)) {
                    faults.add("a sum is " + sum + ", not " + 100 * (value + 1));
                }
                results.incrementAndGet();
            } catch (dev.ebb.djl.EbbException e) {
                Thread.sleep(1);
            }
        }
    }

    private void program(Random random) {
        Arguments arguments = new Arguments(random, names);
        methods.forEach(method -> call(method, arguments));
        for (long i = 0; i < most && System.nanoTime() < end; i++) {
            Method method = methods.get(random.nextInt(methods.size()));
            if (arguments.allows(method.getName())) {
                call(method, arguments);
            }
        }
    }

    private void call(Method method, Arguments arguments) {
        Object[] given = arguments.of(method);
        long start = System.nanoTime();
        calls.computeIfAbsent(method.getName(), name -> new LongAdder()).increment();
        try {
            names.made(method.getName(), given, method.invoke(null, given));
        } catch (InvocationTargetException e) {
            refused.computeIfAbsent(method.getName(), name -> new LongAdder()).increment();
            Throwable said = e.getCause();
            boolean expected = said instanceof RuntimeException || said instanceof OutOfMemoryError;
            if (!expected || said.getMessage() == null) {
                faults.add(method.getName() + Arrays.deepToString(given) + ": " + said);
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        if (System.nanoTime() - start > LONGEST_NANOS) {
            faults.add(method.getName() + " took " + (System.nanoTime() - start) / 1_000_000 + " ms");
        }
    }
}
