package dev.ebb.djl.ownership;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import dev.ebb.djl.Ebb;
import dev.ebb.djl.support.Fork;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A result goes to the manager that ends first, whichever operand comes first; and everything else stays. */
class OwnershipTest {

    /** Two operands of one shape. */
    private static final List<BiFunction<NDArray, NDArray, NDArray>> OPERATIONS =
            List.of(
                    NDArray::add,
                    NDArray::sub,
                    NDArray::mul,
                    NDArray::div,
                    NDArray::pow,
                    NDArray::maximum,
                    NDArray::eq,
                    NDArray::gt,
                    NDArray::dot,
                    NDArray::matMul,
                    (a, b) -> a.concat(b, 0),
                    (a, b) -> a.stack(b, 0),
                    (a, b) -> NDArrays.where(a.gt(1), a, b),
                    (a, b) -> NDArrays.concat(new NDList(a, b), 1));

    private NDManager model;
    private NDManager batch;
    private NDArray weight;
    private NDArray input;

    @BeforeEach
    void open() {
        Ebb.ownership("shortest");
        model = NDManager.newBaseManager();
        batch = model.newSubManager();
        weight = square(model);
        input = square(batch);
    }

    @AfterEach
    void close() {
        Ebb.ownership("first");
        Ebb.trace(false);
        model.close();
        Ebb.audit();
    }

    private static NDArray square(NDManager manager) {
        return manager.create(new float[][] {{1, 2}, {3, 4}});
    }

    @Test
    void theOrderOfTwoWordsDecidesNothing() {
        for (BiFunction<NDArray, NDArray, NDArray> operation : OPERATIONS) {
            assertSame(batch, operation.apply(weight, input).getManager());
            assertSame(batch, operation.apply(input, weight).getManager());
        }
    }

    @Test
    void byDefaultItDoes() {
        Ebb.ownership("first");
        assertSame(model, weight.add(input).getManager());
        assertSame(batch, input.add(weight).getManager());
    }

    @Test
    void anIndexIsAnOperand() {
        NDArray rows = batch.create(new long[] {1, 0});
        assertSame(batch, weight.get(rows).getManager());
        assertSame(batch, weight.get(new NDIndex().addBooleanIndex(input.gt(2))).getManager());
    }

    @Test
    void resultsEndWithTheBatch() {
        NDArray result = weight.add(input);
        assertArrayEquals(new float[] {2, 4, 6, 8}, result.toFloatArray());
        batch.close();
        assertThrows(IllegalStateException.class, result::toFloatArray);
        assertArrayEquals(new float[] {1, 2, 3, 4}, weight.toFloatArray());
    }

    @Test
    void ofManagersAtOneDepthTheYounger() {
        NDManager other = model.newSubManager();
        NDArray third = square(other);
        assertSame(other, input.add(third).getManager());
        assertSame(other, third.add(input).getManager());
    }

    @Test
    void operationsInPlaceStay() {
        assertSame(weight, weight.addi(input));
        assertSame(model, weight.getManager());
        assertArrayEquals(new float[] {2, 4, 6, 8}, weight.toFloatArray());
    }

    @Test
    void oneOperandStaysWhereItIs() {
        assertSame(model, weight.add(1).getManager());
        assertSame(model, weight.reshape(4).getManager());
        assertSame(model, weight.sum().getManager());
    }

    @Test
    void attachMeansWhatItDid() {
        NDArray result = weight.add(input);
        result.attach(model);
        batch.close();
        assertArrayEquals(new float[] {2, 4, 6, 8}, result.toFloatArray());
    }

    @Test
    void aLoanIsAnOperandOfItsBorrower() {
        try (NDManager borrower = batch.newSubManager()) {
            weight.tempAttach(borrower);
            assertSame(borrower, input.add(weight).getManager());
        }
        assertSame(model, weight.getManager());
        assertArrayEquals(new float[] {1, 2, 3, 4}, weight.toFloatArray());
    }

    @Test
    void aCappedManagerGetsNothing() {
        batch.cap();
        assertSame(model, weight.add(input).getManager());
    }

    @Test
    void aTreeHasItsOwnRule() {
        Ebb.ownership("first");
        Ebb.ownership(batch, "shortest");
        NDManager below = batch.newSubManager();
        assertSame(below, weight.add(square(below)).getManager());
        Ebb.ownership(below, "first");
        assertSame(model, weight.add(square(below)).getManager());
        assertSame(model, weight.add(square(model.newSubManager())).getManager());
    }

    @Test
    void wrongRulesAreNamed() {
        assertTrue(assertThrows(IllegalArgumentException.class, () -> Ebb.ownership("deepest")).getMessage()
                .contains("first or shortest"));
        assertThrows(IllegalArgumentException.class, () -> Ebb.ownership(null));
        assertThrows(NullPointerException.class, () -> Ebb.ownership(null, "first"));
        assertThrows(IllegalArgumentException.class, () -> Ebb.ownership("not a manager", "first"));
    }

    @Test
    void theReportNamesWhatWouldHaveEscaped() {
        Ebb.trace(true);
        model.setName("the model");
        weight.add(input);
        Ebb.ownership("first");
        weight.sub(input);
        String report = Ebb.report(1000);
        assertTrue(report.contains("kept from \"manager the model\" in \"sub-manager\""), report);
        assertTrue(report.contains("escaped to \"manager the model\" past \"sub-manager\""), report);
        assertTrue(report.contains("OwnershipTest.java:"), report);
        String json = Ebb.reportJson(1000);
        assertTrue(json.contains("\"escapes\":[{\"text\":\"OwnershipTest.") && json.endsWith("]}"), json);
    }

    @Test
    void theSwitchOfTheCommandLine() throws Exception {
        Fork.Result on = Fork.withAgent().flag("-Debb.ownership=shortest").run(Program.class);
        assertEquals("true", on.value("shortest"), on.text());
        Fork.Result off = Fork.withAgent().flag("-Debb.ownership=deepest").run(Program.class);
        assertEquals("false", off.value("shortest"), off.text());
        assertTrue(off.text().contains("allowed: first, shortest"), off.text());
        assertFalse(on.text().contains("[ebb]"), on.text());
    }

    /** Says where a result went. */
    public static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            try (NDManager outer = NDManager.newBaseManager();
                    NDManager inner = outer.newSubManager()) {
                System.out.println("shortest=" + (square(outer).add(square(inner)).getManager() == inner));
            }
        }
    }
}
