package dev.ebb.djl.mnist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ebb.djl.support.Fork;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The seed's example: what is learned stays the same, what is kept does not grow. */
class MnistTest {
    private static final int IMAGES = 6_000;
    private static final int EPOCHS = 4;
    private static final Pattern LINE =
            Pattern.compile("\"loss\": ([-0-9.]+), \"accuracy\": ([0-9.]+), \"arrays\": (\\d+), \"resident\": (\\d+)");

    private record Epoch(String loss, String accuracy, int arrays, long residentMb) {}

    private static List<Epoch> train(Fork fork, String how) throws Exception {
        Fork.Result result = fork.run(MnistTraining.class, how, EPOCHS, IMAGES);
        assertEquals(0, result.status(), result.text());
        List<Epoch> epochs = new ArrayList<>();
        Matcher matcher = LINE.matcher(result.text());
        while (matcher.find()) {
            long resident = Long.parseLong(matcher.group(4)) >> 20;
            epochs.add(new Epoch(matcher.group(1), matcher.group(2), Integer.parseInt(matcher.group(3)), resident));
        }
        assertEquals(EPOCHS, epochs.size(), result.text());
        return epochs;
    }

    private static void assertLearnedTheSame(List<Epoch> on, List<Epoch> off) {
        for (int i = 0; i < EPOCHS; i++) {
            assertEquals(off.get(i).loss, on.get(i).loss);
            assertEquals(off.get(i).accuracy, on.get(i).accuracy);
        }
    }

    @Test
    void careless() throws Exception {
        List<Epoch> off = train(wholeHeap(Fork.stock()), "careless");
        List<Epoch> on = train(wholeHeap(Fork.reclaiming()).flag("-Debb.budget=64MB"), "careless");
        assertLearnedTheSame(on, off);
        assertTrue(off.get(EPOCHS - 1).arrays > EPOCHS * 3_000, off::toString);
        assertTrue(on.get(EPOCHS - 1).arrays < 3_000, on::toString);
        assertTrue(growth(off) > 120, off::toString);
        assertTrue(growth(on) < 60, on::toString);
        assertTrue(on.get(EPOCHS - 1).residentMb - on.get(EPOCHS - 2).residentMb < 40, on::toString);
        assertTrue(on.get(EPOCHS - 1).residentMb - on.get(0).residentMb < 150, on::toString);
    }

    /** All there from the start, so that what grows is the engine's memory. */
    private static Fork wholeHeap(Fork fork) {
        return fork.flag("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");
    }

    /** From the second epoch to the last: the C library's arenas fill in the first. */
    private static long growth(List<Epoch> epochs) {
        return epochs.get(EPOCHS - 1).residentMb - epochs.get(1).residentMb;
    }

    @Test
    void wellWritten() throws Exception {
        List<Epoch> off = train(Fork.stock(), "wellwritten");
        List<Epoch> on = train(Fork.reclaiming(), "wellwritten");
        assertLearnedTheSame(on, off);
        int most = on.stream().mapToInt(Epoch::arrays).max().orElseThrow();
        assertTrue(most < 5_000, on::toString);
    }
}
