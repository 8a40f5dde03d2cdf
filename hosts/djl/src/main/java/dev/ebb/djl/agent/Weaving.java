package dev.ebb.djl.agent;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.EbbRuntime;
import dev.ebb.djl.core.Messages;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.IllegalClassFormatException;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.Arrays;

/** Gives the JVM DJL's classes as they are to be: ready ones where the jar has them, otherwise woven now. */
final class Weaving implements ClassFileTransformer {

    private final HookSight sight;
    private ClassFileTransformer weaver; // null: not needed so far

    private Weaving(HookSight sight) {
        this.sight = sight;
    }

    static void install(Instrumentation instrumentation) throws UnmodifiableClassException {
        try {
            EbbRuntime.start();
        } catch (EbbException e) {
            EbbRuntime.unusable(e.getMessage());
            Messages.say(e.getMessage() + ". The program runs without Ebb");
            return;
        }
        instrumentation.addTransformer(new Weaving(new HookSight(instrumentation)), true);
        instrumentation.retransformClasses(
                Arrays.stream(instrumentation.getAllLoadedClasses())
                        .filter(type -> Woven.NAMES.contains(type.getName()))
                        .toArray(Class<?>[]::new));
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String entry, Class<?> before, ProtectionDomain domain, byte[] content) {
        String type = entry == null ? "" : entry.replace('/', '.');
        if (!Woven.NAMES.contains(type)) {
            return null;
        }
        try {
            byte[] woven = Woven.find(type, content);
            if (woven == null) {
                woven = weaver().transform(loader, entry, before, domain, content);
            }
            if (woven != null) {
                sight.ensure(loader);
            }
            return woven;
        } catch (IOException | IllegalClassFormatException | RuntimeException e) {
            failed(type, e.getCause() == null ? e : e.getCause());
            return null;
        }
    }

    private synchronized ClassFileTransformer weaver() {
        if (weaver == null) {
            // Byte Buddy would try sun.misc.Unsafe, of which newer JVMs complain; nothing here needs it. (Relocated with it.)
            System.setProperty("net.bytebuddy.safe", "true");
            weaver = Weaver.transformer();
        }
        return weaver;
    }

    /** A class that could not be woven makes reclaim unsound: it is switched off. */
    private static void failed(String type, Throwable thrown) {
        String why = type + " is not as Ebb knows it (" + thrown + "). Supported: DJL 0.20.0 to 0.35.1";
        EbbRuntime.unusable(why);
        Messages.say(why + ". The program runs without reclaim");
    }
}
