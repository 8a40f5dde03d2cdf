package dev.ebb.djl.agent;

import static net.bytebuddy.matcher.ElementMatchers.isConstructor;
import static net.bytebuddy.matcher.ElementMatchers.isMethod;
import static net.bytebuddy.matcher.ElementMatchers.isPublic;
import static net.bytebuddy.matcher.ElementMatchers.isStatic;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.nameStartsWith;
import static net.bytebuddy.matcher.ElementMatchers.namedOneOf;
import static net.bytebuddy.matcher.ElementMatchers.none;
import static net.bytebuddy.matcher.ElementMatchers.not;
import static net.bytebuddy.matcher.ElementMatchers.takesArgument;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import dev.ebb.djl.EbbException;
import dev.ebb.djl.core.EbbRuntime;
import dev.ebb.djl.core.Messages;
import dev.ebb.djl.hooks.Hooks;
import java.lang.instrument.Instrumentation;
import java.nio.Buffer;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.asm.MemberSubstitution;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.matcher.ElementMatcher;
import net.bytebuddy.utility.JavaModule;

/** What is woven into which of DJL's methods. */
final class Weaver {

    private static final boolean FENCES = !Boolean.getBoolean("ebb.without.fences");
    private static final boolean OWN = !Boolean.getBoolean("ebb.without.ownMemory");

    private static final String[] IMPURE = {
        "randint", "randperm", "normal", "uniform", "dropout", "rnn", "gru", "lstm", "batchNorm", "put", "scatter",
        "moduleGetParams", "loadModule", "getGradient",
        "createNdFromByteBuffer" // only the copy in it needs room, and is tried again by itself
    };

    private Weaver() {}

    static void install(Instrumentation instrumentation) {
        try {
            EbbRuntime.start();
        } catch (EbbException e) {
            EbbRuntime.unusable(e.getMessage());
            Messages.say(e.getMessage() + ". The program runs without Ebb");
            return;
        }
        HookSight sight = new HookSight(instrumentation);
        new AgentBuilder.Default(new ByteBuddy().with(TypeValidation.DISABLED))
                .disableClassFormatChanges()
                .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
                .with(new Complaints(sight))
                .ignore(none())
                .type(named("ai.djl.ndarray.BaseNDManager"))
                .transform((builder, type, loader, module, domain) -> managers(builder))
                .type(named("ai.djl.ndarray.NDScope"))
                .transform(
                        (builder, type, loader, module, domain) ->
                                builder.visit(Advice.to(Advices.ScopeMade.class).on(isConstructor())))
                .type(named("ai.djl.pytorch.engine.PtNDArray"))
                .transform((builder, type, loader, module, domain) -> pytorchArrays(builder))
                .type(named("ai.djl.pytorch.engine.PtNDManager"))
                .transform((builder, type, loader, module, domain) -> pytorchManagers(builder))
                .type(named("ai.djl.pytorch.jni.JniUtils"))
                .transform((builder, type, loader, module, domain) -> pytorchCalls(builder))
                .type(namedOneOf("ai.djl.pytorch.jni.IValue", "ai.djl.pytorch.jni.IValueUtils"))
                .transform((builder, type, loader, module, domain) -> modules(builder))
                .type(named("ai.djl.ndarray.NDArray"))
                .transform((builder, type, loader, module, domain) -> fenced(builder, reads()))
                .type(named("ai.djl.onnxruntime.engine.OrtNDArray"))
                .transform((builder, type, loader, module, domain) -> onnxArrays(builder))
                .type(named("ai.djl.onnxruntime.engine.OrtSymbolBlock"))
                .transform((builder, type, loader, module, domain) -> onnxModules(builder))
                .installOn(instrumentation);
    }

    private static DynamicType.Builder<?> managers(DynamicType.Builder<?> builder) {
        return builder.visit(Advice.to(Advices.ManagerMade.class).on(isConstructor()))
                .visit(Advice.to(Advices.ManagerClosed.class).on(named("close").and(takesArguments(0))));
    }

    private static DynamicType.Builder<?> pytorchArrays(DynamicType.Builder<?> builder) {
        return builder.visit(Advice.to(Advices.ArrayMade.class).on(isConstructor()))
                .visit(Advice.to(Advices.Interned.class).on(named("intern")));
    }

    private static DynamicType.Builder<?> pytorchManagers(DynamicType.Builder<?> builder) {
        if (!OWN) {
            return builder;
        }
        ElementMatcher<MethodDescription> fromData =
                named("create").and(takesArguments(3)).and(takesArgument(0, Buffer.class));
        try {
            return builder.visit(
                            MemberSubstitution.relaxed()
                                    .method(named("allocateDirect"))
                                    .replaceWith(Hooks.class.getMethod("stage", Object.class, int.class))
                                    .on(fromData))
                    .visit(Advice.to(Advices.Staged.class).on(fromData));
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    private static DynamicType.Builder<?> pytorchCalls(DynamicType.Builder<?> builder) {
        DynamicType.Builder<?> woven =
                builder.visit(Advice.to(Advices.Viewed.class).on(named("getByteBuffer")));
        if (OWN) {
            woven =
                    woven.visit(Advice.to(Advices.DataSet.class).on(named("set").and(takesArguments(2))))
                            .visit(
                                    new AsmVisitorWrapper.ForDeclaredMethods()
                                            .invokable(named("createNdFromByteBuffer"), new OwnMemoryVisitor())
                                            .writerFlags(ClassWriter.COMPUTE_FRAMES));
        }
        woven =
                woven.visit(Advice.to(Advices.Retried.class).on(pure()))
                        .visit(
                                Advice.to(Advices.Explained.class)
                                        .on(isPublic().<MethodDescription>and(isStatic()).and(not(pure()))));
        return fenced(woven, isMethod());
    }

    /** What may run twice: it makes arrays, and neither draws random numbers nor changes an operand. */
    private static ElementMatcher<MethodDescription> pure() {
        return isPublic()
                .<MethodDescription>and(isStatic())
                .and(
                        m -> {
                            String made = m.getReturnType().asErasure().getSimpleName();
                            return made.equals("PtNDArray") || made.equals("NDList");
                        })
                .and(not(namedOneOf(IMPURE)));
    }

    /** A module's forward pass may change its buffers, and draw random numbers. */
    private static DynamicType.Builder<?> modules(DynamicType.Builder<?> builder) {
        return fenced(builder.visit(Advice.to(Advices.Explained.class).on(isMethod().and(isPublic()))), isMethod());
    }

    private static DynamicType.Builder<?> onnxModules(DynamicType.Builder<?> builder) {
        ElementMatcher<MethodDescription> forward = named("forwardInternal");
        return fenced(builder.visit(Advice.to(Advices.Explained.class).on(forward)), forward);
    }

    private static DynamicType.Builder<?> onnxArrays(DynamicType.Builder<?> builder) {
        DynamicType.Builder<?> woven =
                builder.visit(Advice.to(Advices.ArrayMade.class).on(isConstructor()))
                        .visit(Advice.to(Advices.Interned.class).on(named("intern")));
        return fenced(woven, namedOneOf("toByteBuffer", "toStringArray"));
    }

    /** The methods of {@code NDArray} that read through a direct buffer. */
    private static ElementMatcher<MethodDescription> reads() {
        return nameStartsWith("to").<MethodDescription>and(isMethod()).and(m -> !m.isAbstract());
    }

    private static DynamicType.Builder<?> fenced(
            DynamicType.Builder<?> builder, ElementMatcher<? super MethodDescription> methods) {
        if (!FENCES) {
            return builder;
        }
        return builder.visit(
                new AsmVisitorWrapper.ForDeclaredMethods()
                        .invokable(methods, new FenceVisitor())
                        .writerFlags(ClassWriter.COMPUTE_FRAMES));
    }

    /** A class that could not be woven makes reclaim unsound: it is switched off. */
    private static final class Complaints extends AgentBuilder.Listener.Adapter {

        private final HookSight sight;

        Complaints(HookSight sight) {
            this.sight = sight;
        }

        @Override
        public void onError(
                String type, ClassLoader loader, JavaModule module, boolean loaded, Throwable thrown) {
            if (!type.startsWith("ai.djl.")) {
                return;
            }
            String why =
                    type + " is not as Ebb knows it (" + thrown + "). Supported: DJL 0.20.0 to 0.35.1";
            EbbRuntime.reclaim(false);
            EbbRuntime.unusable(why);
            Messages.say(why + ". The program runs without reclaim");
        }

        @Override
        public void onTransformation(
                TypeDescription type,
                ClassLoader loader,
                JavaModule module,
                boolean loaded,
                DynamicType woven) {
            sight.ensure(loader);
        }
    }
}
