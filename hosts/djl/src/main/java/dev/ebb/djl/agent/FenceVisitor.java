package dev.ebb.djl.agent;

import java.util.Set;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.OpenedClassReader;
import net.bytebuddy.utility.visitor.ExceptionTableSensitiveMethodVisitor;

/**
 * Keeps operands reachable while native code uses them. Before each return it puts {@code Reference.reachabilityFence} on
 * every argument, so the JIT sees them as used after the native call. Receivers of the calls that read a handle, where
 * they are no arguments (arrays made inside the method), are chained in a local variable of their own and fenced too.
 *
 * <p>An exceptional exit needs none: it leaves the same call, at which the normal one keeps everything alive.
 */
final class FenceVisitor implements AsmVisitorWrapper.ForDeclaredMethods.MethodVisitorWrapper {

    private static final Set<String> HANDLE_READS = Set.of("getHandle", "getTensor");
    private static final int ROOM = 48; // locals of the longest method, and some

    @Override
    public MethodVisitor wrap(
            TypeDescription type,
            MethodDescription method,
            MethodVisitor visitor,
            Implementation.Context context,
            TypePool pool,
            int writerFlags,
            int readerFlags) {
        return method.isAbstract() || method.isNative() || method.isConstructor()
                ? visitor
                : new Fencing(visitor, method);
    }

    /** Its first instructions come after the method's handlers: else those of an advice would go before them. */
    private static final class Fencing extends ExceptionTableSensitiveMethodVisitor {

        private final MethodDescription method;
        private final int parameters; // slots
        private final int kept; // the slot of the chain
        private int justLoaded = -1; // a parameter slot, if that was the last instruction

        Fencing(MethodVisitor visitor, MethodDescription method) {
            super(OpenedClassReader.ASM_API, visitor);
            this.method = method;
            parameters = method.getStackSize();
            kept = parameters + ROOM;
        }

        @Override
        protected void onAfterExceptionTable() {
            super.onVisitInsn(Opcodes.ACONST_NULL);
            super.onVisitVarInsn(Opcodes.ASTORE, kept);
        }

        @Override
        protected void onVisitVarInsn(int opcode, int slot) {
            if (slot >= kept - 1) {
                throw new IllegalStateException(method + " has more local variables than Ebb expects");
            }
            super.onVisitVarInsn(opcode, slot);
            justLoaded = opcode == Opcodes.ALOAD && slot < parameters ? slot : -1;
        }

        @Override
        protected void onVisitMethodInsn(
                int opcode, String owner, String name, String descriptor, boolean onInterface) {
            if (opcode != Opcodes.INVOKESTATIC
                    && HANDLE_READS.contains(name)
                    && descriptor.startsWith("()")
                    && justLoaded < 0) {
                keepReceiver();
            }
            super.onVisitMethodInsn(opcode, owner, name, descriptor, onInterface);
            justLoaded = -1;
        }

        private void keepReceiver() {
            super.onVisitInsn(Opcodes.DUP);
            super.onVisitVarInsn(Opcodes.ALOAD, kept);
            super.onVisitInsn(Opcodes.SWAP);
            super.onVisitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    "dev/ebb/djl/hooks/Hooks",
                    "keep",
                    "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
                    false);
            super.onVisitVarInsn(Opcodes.ASTORE, kept);
        }

        @Override
        protected void onVisitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                fenceAll();
            }
            super.onVisitInsn(opcode);
            justLoaded = -1;
        }

        private void fenceAll() {
            int slot = 0;
            if (!method.isStatic()) {
                fence(slot++);
            }
            for (Type argument : Type.getArgumentTypes(method.getDescriptor())) {
                if (argument.getSort() == Type.OBJECT || argument.getSort() == Type.ARRAY) {
                    fence(slot);
                }
                slot += argument.getSize();
            }
            fence(kept);
        }

        private void fence(int slot) {
            super.onVisitVarInsn(Opcodes.ALOAD, slot);
            super.onVisitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    "java/lang/ref/Reference",
                    "reachabilityFence",
                    "(Ljava/lang/Object;)V",
                    false);
        }

        @Override
        protected void onVisitTypeInsn(int opcode, String type) {
            super.onVisitTypeInsn(opcode, type);
            if (opcode != Opcodes.CHECKCAST) {
                justLoaded = -1;
            }
        }

        @Override
        protected void onVisitFieldInsn(int opcode, String owner, String name, String descriptor) {
            super.onVisitFieldInsn(opcode, owner, name, descriptor);
            justLoaded = -1;
        }

        @Override
        protected void onVisitInvokeDynamicInsn(
                String name,
                String descriptor,
                net.bytebuddy.jar.asm.Handle bootstrap,
                Object... arguments) {
            super.onVisitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
            justLoaded = -1;
        }
    }
}
