package dev.ebb.djl.agent;

import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.implementation.Implementation;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.pool.TypePool;
import net.bytebuddy.utility.OpenedClassReader;

/**
 * For {@code JniUtils.createNdFromByteBuffer(manager, data, ...)}: the tensor that aliases {@code data} is replaced by a
 * copy before the array is made of it, and the array does not keep {@code data}; unless {@code Hooks} says that it stays.
 */
final class OwnMemoryVisitor implements AsmVisitorWrapper.ForDeclaredMethods.MethodVisitorWrapper {

    private static final int MANAGER = 0;
    private static final int DATA = 1;

    @Override
    public MethodVisitor wrap(
            TypeDescription type,
            MethodDescription method,
            MethodVisitor visitor,
            Implementation.Context context,
            TypePool pool,
            int writerFlags,
            int readerFlags) {
        return new MethodVisitor(OpenedClassReader.ASM_API, visitor) {
            private boolean found;

            @Override
            public void visitMethodInsn(
                    int opcode, String owner, String name, String descriptor, boolean onInterface) {
                super.visitMethodInsn(opcode, owner, name, descriptor, onInterface);
                if (name.equals("torchFromBlob")) {
                    found = true;
                    super.visitVarInsn(Opcodes.ALOAD, MANAGER);
                    super.visitVarInsn(Opcodes.ALOAD, DATA);
                    call("ownMemory", "(JLjava/lang/Object;Ljava/nio/ByteBuffer;)J");
                    super.visitVarInsn(Opcodes.ALOAD, DATA);
                    call("alias", "(Ljava/nio/ByteBuffer;)Ljava/nio/ByteBuffer;");
                    super.visitVarInsn(Opcodes.ASTORE, DATA);
                }
            }

            private void call(String name, String descriptor) {
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "dev/ebb/djl/hooks/Hooks", name, descriptor, false);
            }

            @Override
            public void visitEnd() {
                if (!found) {
                    throw new IllegalStateException(method + " does not call torchFromBlob");
                }
                super.visitEnd();
            }
        };
    }
}
