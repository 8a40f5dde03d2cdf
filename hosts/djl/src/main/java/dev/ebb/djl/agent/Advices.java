package dev.ebb.djl.agent;

import dev.ebb.djl.hooks.Hooks;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.concurrent.ConcurrentHashMap;
import net.bytebuddy.asm.Advice;

/** Code that is copied into DJL's methods. It may name nothing but the JDK and {@link Hooks}. */
final class Advices {

    private Advices() {}

    /** A manager gets maps that hold weakly. */
    static final class ManagerMade {
        private ManagerMade() {}

        @Advice.OnMethodExit
        static void exit(
                @Advice.This Object manager,
                @Advice.FieldValue(value = "resources", readOnly = false)
                        ConcurrentHashMap<String, Object> resources,
                @Advice.FieldValue(value = "tempResources", readOnly = false)
                        ConcurrentHashMap<String, Object> tempResources) {
            resources = Hooks.resources(manager, resources);
            tempResources = Hooks.tempResources(manager, tempResources);
        }
    }

    /** A scope, too, holds its arrays weakly. */
    static final class ScopeMade {
        private ScopeMade() {}

        @Advice.OnMethodExit
        static void exit(
                @Advice.FieldValue(value = "resources", readOnly = false)
                        IdentityHashMap<Object, Object> resources) {
            resources = Hooks.scope(resources);
        }
    }

    static final class ManagerClosed {
        private ManagerClosed() {}

        @Advice.OnMethodExit
        static void exit(@Advice.This Object manager) {
            Hooks.managerClosed(manager);
        }
    }

    /** An array is complete: DJL holds no lock here, and no operand is in use. */
    static final class ArrayMade {
        private ArrayMade() {}

        @Advice.OnMethodExit
        static void exit(@Advice.This Object array) {
            Hooks.safePoint(array);
        }
    }

    /** PyTorch: what Java data went through on its way is free again. */
    static final class Staged {
        private Staged() {}

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit() {
            Hooks.unstage();
        }
    }

    /** PyTorch: an array that aliases the program's buffer, where that was asked for. */
    static final class Aliased {
        private Aliased() {}

        @Advice.OnMethodExit
        static void exit(@Advice.Return Object array) {
            Hooks.aliased(array);
        }
    }

    /** PyTorch: {@code JniUtils.set(array, buffer)} copies instead of making the array an alias. */
    static final class DataSet {
        private DataSet() {}

        @Advice.OnMethodEnter(skipOn = Advice.OnNonDefaultValue.class)
        static boolean enter(@Advice.Argument(0) Object array, @Advice.Argument(1) ByteBuffer data) {
            return Hooks.set(array, data);
        }
    }

    /** PyTorch: a direct buffer over an array's memory keeps the array. */
    static final class Viewed {
        private Viewed() {}

        @Advice.OnMethodExit(backupArguments = false)
        static void exit(@Advice.Argument(0) Object array, @Advice.Return(readOnly = false) ByteBuffer view) {
            view = Hooks.pin(array, view);
        }
    }

    /** The array may have other memory now: {@code intern}, and LightGBM's {@code getHandle}. */
    static final class Changed {
        private Changed() {}

        @Advice.OnMethodExit
        static void exit(@Advice.This Object array) {
            Hooks.changed(array);
        }
    }

    /** LightGBM: what {@code close} would free is freed here, once. */
    static final class Closing {
        private Closing() {}

        @Advice.OnMethodEnter
        static void enter(@Advice.This Object array) {
            Hooks.closing(array);
        }
    }

    /** The result of several operands, whose manager may not be the first one's. */
    static final class Owned {
        private Owned() {}

        @Advice.OnMethodExit
        static void exit(@Advice.AllArguments Object[] given, @Advice.Return Object result) {
            if (Hooks.watchesOwners()) {
                Hooks.owned(result, given);
            }
        }
    }

    /** An operation without side effects that ran out of memory is tried once more, if room could be made. */
    static final class Retried {
        private Retried() {}

        @Advice.OnMethodEnter
        static void enter(@Advice.Local("again") boolean again) {
            again = false;
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class, repeatOn = Advice.OnNonDefaultValue.class)
        static boolean exit(
                @Advice.Local("again") boolean again, @Advice.Thrown(readOnly = false) Throwable thrown) {
            if (thrown == null) {
                return false;
            }
            Throwable told = Hooks.failed(thrown, again);
            again = true;
            thrown = told;
            return told == null;
        }
    }

    /** One with side effects that ran out of memory is not, but its error tells where memory is. */
    static final class Explained {
        private Explained() {}

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Thrown(readOnly = false) Throwable thrown) {
            if (thrown != null) {
                thrown = Hooks.explained(thrown);
            }
        }
    }
}
