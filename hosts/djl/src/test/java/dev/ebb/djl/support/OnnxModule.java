package dev.ebb.djl.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** An ONNX model of one node, {@code z = MatMul(x, y)}, as the protocol buffer that ONNX's schema describes. */
public final class OnnxModule {
    private static final int FLOAT = 1;
    private static final int IR_VERSION = 8;
    private static final int OPSET = 13;

    private OnnxModule() {}

    /** Writes {@code matmul.onnx} into the folder. */
    public static void write(Path folder) throws IOException {
        Message node = new Message().text(1, "x").text(1, "y").text(2, "z").text(4, "MatMul");
        Message graph = new Message().message(1, node).text(2, "matmul");
        graph.message(11, matrix("x")).message(11, matrix("y")).message(12, matrix("z"));
        Message opset = new Message().text(1, "").number(2, OPSET);
        Message model = new Message().number(1, IR_VERSION).message(7, graph).message(8, opset);
        Files.write(folder.resolve("matmul.onnx"), model.bytes.toByteArray());
    }

    /** A float matrix of any size. */
    private static Message matrix(String name) {
        Message shape = new Message().message(1, side("rows of " + name)).message(1, side("columns of " + name));
        Message tensor = new Message().number(1, FLOAT).message(2, shape);
        return new Message().text(1, name).message(2, new Message().message(1, tensor));
    }

    private static Message side(String name) {
        return new Message().text(2, name);
    }

    private static final class Message {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Message number(int field, int value) {
            varint(field << 3);
            varint(value);
            return this;
        }

        Message text(int field, String value) {
            return lengthAnd(field, value.getBytes(StandardCharsets.UTF_8));
        }

        Message message(int field, Message value) {
            return lengthAnd(field, value.bytes.toByteArray());
        }

        private Message lengthAnd(int field, byte[] value) {
            varint(field << 3 | 2);
            varint(value.length);
            bytes.writeBytes(value);
            return this;
        }

        private void varint(int value) {
            int rest = value;
            for (; rest > 0x7f; rest >>>= 7) {
                bytes.write(rest & 0x7f | 0x80);
            }
            bytes.write(rest);
        }
    }
}
