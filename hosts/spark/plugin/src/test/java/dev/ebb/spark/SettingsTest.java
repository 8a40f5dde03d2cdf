package dev.ebb.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

    private static Settings settings(String... pairs) {
        Map<String, String> all = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            all.put(pairs[i], pairs[i + 1]);
        }
        return new Settings(all);
    }

    @Test
    void defaultsAreRight() {
        settings().check();
    }

    @ParameterizedTest
    @CsvSource({
        "budgets,1g",
        "reclaim,yes",
        "budget,much",
        "budget,0",
        "budget,99999999999t",
        "budget.share,0",
        "budget.share,1.5",
        "budget.share,NaN",
        "trace,often",
        "malloc,jemalloc",
        "leaks,throw",
        "report.interval,61s",
        "report.interval,soon",
        "report.top,0",
        "report.top,x"
    })
    void aWrongOneIsNamed(String name, String value) {
        Settings settings = settings("spark.ebb." + name, value);
        String message = assertThrows(IllegalArgumentException.class, settings::check).getMessage();
        assertTrue(message.contains("spark.ebb." + name), message);
    }

    @ParameterizedTest
    @CsvSource({"1024,1024", "2GB,2147483648", "512m,536870912", "1 KiB,1024", "3t,3298534883328"})
    void sizesAsPeopleWriteThem(String text, long bytes) {
        assertEquals(bytes, Sizes.parse(text));
    }

    @Test
    void theBudgetIsAShareOfTheOverhead() {
        assertEquals(288L << 20, Budget.of(settings(), 0), "384 MB at least");
        assertEquals(3L << 29, Budget.of(settings("spark.executor.memory", "20g"), 0), "a tenth of the heap");
        assertEquals(3L << 29, Budget.of(settings("spark.executor.memoryOverhead", "2g"), 0));
        assertEquals(1L << 30, Budget.of(settings("spark.ebb.budget.share", "0.5"), 2L << 30), "its profile's");
        assertEquals(7L << 30, Budget.of(settings("spark.ebb.budget", "7g"), 2L << 30), "the user's goes first");
        assertEquals(1536L << 20, Budget.of(settings("spark.executor.memoryOverhead", "2048"), 0), "MB without a unit");
    }

    @Test
    void slots() {
        assertEquals(4, Budget.slots(settings("spark.executor.cores", "8", "spark.task.cpus", "2"), 0));
        assertEquals(1, Budget.slots(settings(), 0));
        assertEquals(1, Budget.slots(settings("spark.task.cpus", "4"), 2));
        assertEquals(16, Budget.slots(settings("spark.executor.cores", "8"), 16));
    }
}
