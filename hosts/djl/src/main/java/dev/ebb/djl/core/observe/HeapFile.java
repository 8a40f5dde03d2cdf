package dev.ebb.djl.core.observe;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The bytes of a heap dump, however long it is. Big endian, as HPROF is. */
final class HeapFile {

    private static final int CHUNK_BITS = 30;
    private static final int CHUNK = 1 << CHUNK_BITS;

    private final MappedByteBuffer[] chunks;
    final long size;

    HeapFile(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            size = channel.size();
            chunks = new MappedByteBuffer[(int) ((size + CHUNK - 1) >>> CHUNK_BITS)];
            for (int i = 0; i < chunks.length; i++) {
                long from = (long) i << CHUNK_BITS;
                chunks[i] = channel.map(FileChannel.MapMode.READ_ONLY, from, Math.min(CHUNK, size - from));
            }
        }
    }

    int u1(long at) {
        return chunks[(int) (at >>> CHUNK_BITS)].get((int) (at & (CHUNK - 1))) & 0xff;
    }

    int u2(long at) {
        return u1(at) << 8 | u1(at + 1);
    }

    int s4(long at) {
        int place = (int) (at & (CHUNK - 1));
        return place <= CHUNK - 4 ? chunks[(int) (at >>> CHUNK_BITS)].getInt(place) : u2(at) << 16 | u2(at + 2);
    }

    long u4(long at) {
        return s4(at) & 0xffffffffL;
    }

    long id(long at) {
        int place = (int) (at & (CHUNK - 1));
        return place <= CHUNK - 8 ? chunks[(int) (at >>> CHUNK_BITS)].getLong(place) : u4(at) << 32 | u4(at + 4);
    }

    String text(long at, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) u1(at + i);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
