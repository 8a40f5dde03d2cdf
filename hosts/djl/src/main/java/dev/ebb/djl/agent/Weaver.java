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

import dev.ebb.djl.hooks.Hooks;
import java.lang.instrument.ClassFileTransformer;
import java.lang.reflect.Method;
import java.nio.Buffer;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.asm.AsmVisitorWrapper;
import net.bytebuddy.asm.MemberSubstitution;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDefinition;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.jar.asm.ClassWriter;
import net.bytebuddy.matcher.ElementMatcher;

/** What is woven into which of DJL's methods, with Byte Buddy; {@link Woven} spares most programs its start. */
final class Weaver {

    private static final String[] IMPURE = {
        "randint", "randperm", "normal", "uniform", "dropout", "rnn", "gru", "lstm", "batchNorm", "put", "scatter",
        "moduleGetParams", "loadModule", "getGradient",
        "createNdFromByteBuffer" // only the copy in it needs room, and is tried again by itself
    };

    private static final Map<String, Integer> OPERANDS =
            Map.of("PtNDArray", 1, "NDArray", 1, "NDIndex", 1, "PtNDArray[]", 2, "NDArray[]", 2, "NDList", 2);

    private Weaver() {}

    /** Weaves the classes of {@link Woven#NAMES}. One that it cannot weave is an exception, whose cause says why. */
    static ClassFileTransformer transformer() {
        return new AgentBuilder.Default(new ByteBuddy().with(TypeValidation.DISABLED))
                .disableClassFormatChanges()
                .ignore(none())
                .type(namedOneOf(Woven.NAMES.toArray(String[]::new)))
                .transform((builder, type, loader, module, domain) -> woven(type.getName(), builder))
                .makeRaw();
    }

    private static DynamicType.Builder<?> woven(String type, DynamicType.Builder<?> builder) {
        return switch (type) {
            case "ai.djl.ndarray.BaseNDManager" -> managers(builder);
            case "ai.djl.ndarray.NDScope" -> builder.visit(Advice.to(Advices.ScopeMade.class).on(isConstructor()));
            case "ai.djl.ndarray.NDArray" -> fenced(builder, reads());
            case "ai.djl.pytorch.engine.PtNDArray" -> arrays(builder);
            case "ai.djl.pytorch.engine.PtNDManager" -> pytorchManagers(builder);
            case "ai.djl.pytorch.jni.JniUtils" -> pytorchCalls(builder);
            case "ai.djl.pytorch.jni.IValue", "ai.djl.pytorch.jni.IValueUtils" -> modules(builder);
            case "ai.djl.onnxruntime.engine.OrtNDArray" ->
                    fenced(arrays(builder), namedOneOf("toByteBuffer", "toStringArray"));
            case "ai.djl.tensorflow.engine.TfNDArray", "ai.djl.mxnet.engine.MxNDArray" ->
                    fenced(arrays(builder), isMethod());
            case "ai.djl.ml.xgboost.XgbNDArray" -> arrays(builder);
            case "ai.djl.ml.lightgbm.LgbmNDArray" -> lightGbmArrays(builder);
            case "ai.djl.tensorflow.engine.TfOpExecutor" ->
                    explained(builder, nameStartsWith("build").or(nameStartsWith("addInput")));
            case "ai.djl.mxnet.jna.JnaUtils" -> explained(builder, isMethod().and(isPublic()));
            case "ai.djl.mxnet.engine.CachedOp" -> fenced(builder, named("forward"));
            case "ai.djl.onnxruntime.engine.OrtSymbolBlock",
                    "ai.djl.tensorflow.engine.TfSymbolBlock",
                    "ai.djl.ml.xgboost.XgbSymbolBlock",
                    "ai.djl.ml.lightgbm.LgbmSymbolBlock" ->
                    explained(builder, named("forwardInternal"));
            case "ai.djl.ml.lightgbm.jni.JniUtils" -> fenced(builder, isMethod());
            default -> throw new IllegalStateException(type);
        };
    }

    private static DynamicType.Builder<?> managers(DynamicType.Builder<?> builder) {
        return builder.visit(Advice.to(Advices.ManagerMade.class).on(isConstructor()))
                .visit(Advice.to(Advices.ManagerClosed.class).on(named("close").and(takesArguments(0))))
                .visit(
                        MemberSubstitution.relaxed()
                                .method(named("toList"))
                                .replaceWith(hook("listed"))
                                .on(named("getManagedArrays")));
    }

    private static DynamicType.Builder<?> arrays(DynamicType.Builder<?> builder) {
        return builder.visit(Advice.to(Advices.ArrayMade.class).on(isConstructor()))
                .visit(Advice.to(Advices.Changed.class).on(named("intern")));
    }

    /** They get their native memory when a model first reads them, and free it with every close. */
    private static DynamicType.Builder<?> lightGbmArrays(DynamicType.Builder<?> builder) {
        return arrays(builder)
                .visit(Advice.to(Advices.Changed.class).on(named("getHandle")))
                .visit(Advice.to(Advices.Closing.class).on(named("close")));
    }

    private static DynamicType.Builder<?> pytorchManagers(DynamicType.Builder<?> builder) {
        if (!Woven.OWN) {
            return builder;
        }
        ElementMatcher<MethodDescription> fromData =
                named("create").and(takesArguments(3)).and(takesArgument(0, Buffer.class));
        return builder.visit(
                        MemberSubstitution.relaxed()
                                .method(named("allocateDirect"))
                                .replaceWith(hook("stage", Object.class, int.class))
                                .on(fromData))
                .visit(Advice.to(Advices.Staged.class).on(fromData));
    }

    private static Method hook(String name, Class<?>... parameters) {
        try {
            return Hooks.class.getMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    private static DynamicType.Builder<?> pytorchCalls(DynamicType.Builder<?> builder) {
        DynamicType.Builder<?> woven =
                builder.visit(Advice.to(Advices.Viewed.class).on(named("getByteBuffer")));
        if (Woven.OWN) {
            woven =
                    woven.visit(Advice.to(Advices.DataSet.class).on(named("set").and(takesArguments(2))))
                            .visit(
                                    new AsmVisitorWrapper.ForDeclaredMethods()
                                            .invokable(named("createNdFromByteBuffer"), new OwnMemoryVisitor())
                                            .writerFlags(ClassWriter.COMPUTE_FRAMES))
                            .visit(Advice.to(Advices.Aliased.class).on(named("createNdFromByteBuffer")));
        }
        woven =
                woven.visit(Advice.to(Advices.Owned.class).on(ofSeveral()))
                        .visit(Advice.to(Advices.Retried.class).on(pure()))
                        .visit(
                                Advice.to(Advices.Explained.class)
                                        .on(isPublic().<MethodDescription>and(isStatic()).and(not(pure()))));
        return fenced(woven, isMethod());
    }

    /** What may run twice: it makes arrays, and neither draws random numbers nor changes an operand. */
    private static ElementMatcher<MethodDescription> pure() {
        return makesArrays().and(not(namedOneOf(IMPURE)));
    }

    private static ElementMatcher.Junction<MethodDescription> makesArrays() {
        return isPublic()
                .<MethodDescription>and(isStatic())
                .and(m -> Set.of("PtNDArray", "NDList").contains(m.getReturnType().asErasure().getSimpleName()));
    }

    /** Of two operands or more, or of a list of them. */
    private static ElementMatcher<MethodDescription> ofSeveral() {
        return makesArrays()
                .and(
                        m -> {
                            int operands = 0;
                            for (TypeDefinition each : m.getParameters().asTypeList()) {
                                operands += OPERANDS.getOrDefault(each.asErasure().getSimpleName(), 0);
                            }
                            return operands > 1;
                        });
    }

    /** A module's forward pass may change its buffers, and draw random numbers. */
    private static DynamicType.Builder<?> modules(DynamicType.Builder<?> builder) {
        return fenced(
                builder.visit(Advice.to(Advices.Owned.class).on(named("forward").and(ofSeveral())))
                        .visit(Advice.to(Advices.Explained.class).on(isMethod().and(isPublic()))),
                isMethod());
    }

    /** Operations that are not tried twice. */
    private static DynamicType.Builder<?> explained(
            DynamicType.Builder<?> builder, ElementMatcher<? super MethodDescription> methods) {
        return fenced(builder.visit(Advice.to(Advices.Explained.class).on(methods)), methods);
    }

    /** The methods of {@code NDArray} that read through a direct buffer. */
    private static ElementMatcher<MethodDescription> reads() {
        return nameStartsWith("to").<MethodDescription>and(isMethod()).and(m -> !m.isAbstract());
    }

    private static DynamicType.Builder<?> fenced(
            DynamicType.Builder<?> builder, ElementMatcher<? super MethodDescription> methods) {
        if (!Woven.FENCES) {
            return builder;
        }
        return builder.visit(
                new AsmVisitorWrapper.ForDeclaredMethods()
                        .invokable(methods, new FenceVisitor())
                        .writerFlags(ClassWriter.COMPUTE_FRAMES));
    }
}
