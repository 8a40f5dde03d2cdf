package dev.ebb.djl.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random calls at the border to native code, for seconds; for minutes in the soak. */
@Tag("once")
class BorderTest {
    /** What {@code -Xcheck:jni} says of a function of Ebb's. */
    private static final Pattern OURS = Pattern.compile("WARNING in native method[^\\n]*\\n\\s+at dev\\.ebb\\.");

    @Test
    void whateverIsCalledNothingBreaks() throws Exception {
        Fork.Result result = Fork.reclaiming().flag("-Xcheck:jni", "-Xmx512m").seconds(300).run(Border.class, 120, 1, 20_000);
        assertEquals(0, result.status(), result.text());
        assertTrue(result.number("calls") > 1_000 && result.number("refused") > 100, result.text()); // slow machines do fewer
        assertFalse(OURS.matcher(result.text()).find(), result.text());
    }
}
