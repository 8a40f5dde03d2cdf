package dev.ebb.djl.loaders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.ebb.djl.support.Fork;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One jar, with the native library inside and nothing under a name that another jar may have. */
@Tag("once")
class JarTest {
    @Test
    void everythingInItIsEbbs() throws Exception {
        try (JarFile jar = new JarFile(Fork.agent().toFile())) {
            List<String> others =
                    jar.stream()
                            .filter(entry -> !entry.isDirectory())
                            .map(ZipEntry::getName)
                            .filter(name -> !name.startsWith("dev/ebb/djl/") && !name.startsWith("META-INF/"))
                            .toList();
            assertEquals(List.of(), others);
            assertNotNull(jar.getEntry("dev/ebb/djl/native/linux-x86_64/libebb_jni.so"));
            assertNotNull(jar.getEntry("META-INF/LICENSE"));
            assertNotNull(jar.getEntry("META-INF/NOTICE"));
        }
    }
}
