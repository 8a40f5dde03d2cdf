package dev.ebb.djl.core.books;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ebb.djl.Memory;
import dev.ebb.djl.core.Control;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The books' columns go from the core to {@link Memory} by name. */
class ColumnsTest {
    @Test
    void everyColumnOfMemoryIsRead() {
        assertEquals(
                Arrays.stream(Memory.class.getRecordComponents())
                        .map(RecordComponent::getName)
                        .collect(Collectors.toSet()),
                Control.current().memory(null).keySet());
    }
}
