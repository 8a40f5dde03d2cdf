package dev.ebb.djl.support;

import ai.djl.Model;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** A TorchScript module without parameters, written as PyTorch's {@code torch.jit.save} lays it out. */
public final class TorchModule {
    private static final String NAME = "module";

    /** Of an object of class {@code Module} whose field {@code training} is true; and of no constants. */
    private static final String OBJECT = "\u0080\u0002c__torch__\nModule\n)\u0081}(X\b\0\0\0training\u0088ub.";

    private static final String NOTHING = "\u0080\u0002).";

    private TorchModule() {}

    /** Loads a module whose {@code forward(self, x)} has these lines, without indentation, as its body. */
    public static Model load(Path folder, String... body) throws IOException {
        try (OutputStream file = Files.newOutputStream(folder.resolve(NAME + ".pt"));
                ZipOutputStream archive = new ZipOutputStream(file)) {
            entry(archive, "data.pkl", OBJECT);
            entry(archive, "code/__torch__.py", code(body));
            entry(archive, "constants.pkl", NOTHING);
            entry(archive, "version", "3\n");
        }
        Model model = Model.newInstance(NAME, "PyTorch");
        try {
            model.load(folder, NAME);
            return model;
        } catch (ai.djl.MalformedModelException e) {
            throw new AssertionError(e);
        }
    }

    private static String code(String... body) {
        StringBuilder code = new StringBuilder("class Module(Module):\n");
        code.append("  __parameters__ = []\n  __buffers__ = []\n  training : bool\n");
        code.append("  def forward(self: __torch__.Module,\n    x: Tensor) -> Tensor:\n");
        for (String line : body) {
            code.append("    ").append(line).append('\n');
        }
        return code.toString();
    }

    private static void entry(ZipOutputStream archive, String name, String text) throws IOException {
        archive.putNextEntry(new ZipEntry(NAME + "/" + name));
        archive.write(text.getBytes(StandardCharsets.ISO_8859_1));
        archive.closeEntry();
    }
}
