package dev.ebb.djl.budget;

import static dev.ebb.djl.support.Managers.holding;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.ClaimedGpu;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.EbbException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each device has books and a budget of its own. The GPU is claimed, see {@link ClaimedGpu}. */
@Tag("once")
class DevicesTest {
    private static final long MEGABYTE = 1 << 20;
    private static final long ELEMENTS = MEGABYTE / 4;
    private static final long GPU_BUDGET = 16 * MEGABYTE;
    private static final int MANY = 400;

    private NDManager cpu;
    private NDManager gpu;

    @BeforeEach
    void open() {
        Ebb.reclaim(true);
        Ebb.collect();
        cpu = NDManager.newBaseManager(Device.cpu());
        gpu = ClaimedGpu.manager(cpu);
        Ebb.budget(Device.cpu(), "4GB");
        Ebb.budget(Device.gpu(0), GPU_BUDGET);
    }

    @AfterEach
    void close() {
        cpu.close();
        Ebb.strict(false);
        Ebb.budget(Device.gpu(0), "4GB");
        Ebb.audit();
    }

    private static long live(Device device) {
        return Ebb.memory(device).liveBytes();
    }

    @Test
    void booksOfEachDevice() {
        long before = live(Device.cpu());
        NDArray onGpu = ClaimedGpu.array(gpu, ELEMENTS);
        assertEquals(MEGABYTE, live(Device.gpu(0)));
        assertEquals(before, live(Device.cpu()));
        assertEquals(Ebb.memory().liveBytes(), before + MEGABYTE);
        onGpu.close();
        assertEquals(0, live(Device.gpu(0)));
    }

    @Test
    void anArrayIsBookedWhereItIsNotWhereItsManagerIs() {
        NDArray array = ClaimedGpu.array(cpu, ELEMENTS);
        assertEquals(MEGABYTE, live(Device.gpu(0)));
        holding(array);
    }

    @Test
    void theSmallBudgetHoldsAndTheLargeOneIsFree() {
        List<NDArray> held = new ArrayList<>();
        long most = 0;
        for (int i = 0; i < MANY; i++) {
            ClaimedGpu.array(gpu, ELEMENTS);
            held.add(cpu.create(new Shape(ELEMENTS / 4)));
            most = Math.max(most, live(Device.gpu(0)));
        }
        long seen = most;
        assertTrue(seen <= GPU_BUDGET + GPU_BUDGET / 16, () -> seen + " bytes on the GPU");
        assertTrue(live(Device.cpu()) >= MANY * MEGABYTE / 4);
        holding(held);
    }

    @Test
    void strictThrowsForTheDeviceThatIsFull() {
        Ebb.strict(true);
        List<NDArray> held = new ArrayList<>();
        EbbException thrown =
                assertThrows(
                        EbbException.class,
                        () -> {
                            for (int i = 0; i < 3 * GPU_BUDGET / MEGABYTE; i++) {
                                held.add(ClaimedGpu.array(gpu, ELEMENTS));
                            }
                        });
        assertTrue(thrown.getMessage().contains("gpu(0)"), thrown.getMessage());
        holding(held);
    }

    @Test
    void aDeviceThatWasNeverUsedHoldsNothing() {
        assertEquals(0, Ebb.memory(Device.gpu(7)).live());
    }
}
