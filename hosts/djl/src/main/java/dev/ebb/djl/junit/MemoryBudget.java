package dev.ebb.djl.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What a test may hold and leave: {@code @MemoryBudget(peak = "256MB", leaks = 0, warmups = 1)}, on a method or a class. With
 * the agent only. For parallel tests give each class a JVM of its own: the peak is the process's.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(MemoryBudgetExtension.class)
public @interface MemoryBudget {

    /** The most that arrays may take at once beyond what there was before, e.g. {@code "64MB"}. Empty: any. */
    String peak() default "";

    /** How many arrays the test may drop without closing them; -1: any. */
    int leaks() default -1;

    /** How often the test runs before it counts: for what is made the first time only. */
    int warmups() default 0;

    /**
     * A file such as {@code ebb check --budget} takes: {@code peak}, {@code leaked} (bytes that are alive at the end and were
     * not before) and {@code created}, each bytes or text such as {@code "256MB"}. Empty: none.
     */
    String file() default "";
}
