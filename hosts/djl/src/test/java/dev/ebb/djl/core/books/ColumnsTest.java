package dev.ebb.djl.core.books;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.Memory;
import dev.ebb.djl.core.Control;
import java.lang.reflect.RecordComponent;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The books' columns go from the core to {@link Memory} by name. */
class ColumnsTest {
    @Test
    void everyColumnOfMemoryIsRead() {
        Set<String> read = Control.current().memory(null).keySet();
        for (RecordComponent column : Memory.class.getRecordComponents()) {
            assertTrue(read.contains(column.getName()), column.getName());
        }
    }
}
