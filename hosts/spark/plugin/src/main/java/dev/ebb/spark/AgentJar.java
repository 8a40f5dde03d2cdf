package dev.ebb.spark;

import java.io.File;
import java.io.IOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The jar of ebb-djl, and how it becomes the agent of a JVM that runs. */
final class AgentJar {

    /** Java's options with which an executor may load its agent by itself, and without a warning. */
    static final List<String> OPTIONS =
            List.of("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading");

    private static final String AGENT = "dev/ebb/djl/agent/Agent.class";
    private static final long PATIENCE_SECONDS = 60;

    private AgentJar() {}

    static String missing() {
        return "ebb-djl, the agent, is not here: add its jar to spark.jars (--jars ebb-spark.jar,ebb-djl.jar), name its path on"
                + " the executors by spark.ebb.agent, or start them with -javaagent:ebb-djl.jar"
                + " (spark.executor.extraJavaOptions)";
    }

    /** The jar that is named, or the one that the plugin's class loader finds; null if there is none. */
    static File find(String named) {
        if (named != null) {
            File file = new File(named);
            return file.isFile() ? file : null;
        }
        URL found = AgentJar.class.getClassLoader().getResource(AGENT);
        try {
            URLConnection connection = found == null ? null : found.openConnection();
            return connection instanceof JarURLConnection jar ? new File(jar.getJarFileURL().toURI()) : null;
        } catch (IOException | URISyntaxException e) {
            return null;
        }
    }

    /** Loads the agent into this JVM. Throws an {@link IllegalStateException} that says why it could not. */
    static void load(File jar, String arguments) {
        String self = Long.toString(ProcessHandle.current().pid());
        try {
            if (Boolean.getBoolean("jdk.attach.allowAttachSelf")) {
                Attach.attach(self, jar.getPath(), arguments);
            } else {
                attachFromOutside(self, jar, arguments);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while the agent was loaded", e);
        } catch (IOException | ReflectiveOperationException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalStateException(
                    "the agent " + jar + " could not be loaded into the running JVM (" + cause
                            + "): executors need a JDK, or -javaagent in spark.executor.extraJavaOptions", e);
        }
        if (!EbbAgent.isThere()) {
            throw new IllegalStateException("the agent " + jar + " was loaded and could not start; the executor's log says why");
        }
    }

    /** A JVM must not attach to itself unless it was started so: another one does it. */
    private static void attachFromOutside(String self, File jar, String arguments) throws IOException, InterruptedException {
        File own = new File(URI.create(AgentJar.class.getProtectionDomain().getCodeSource().getLocation().toString()));
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        Process other =
                new ProcessBuilder(
                                java, "-Xmx32m", "-XX:TieredStopAtLevel=1", "-cp", own.getPath(),
                                Attach.class.getName(), self, jar.getPath(), arguments)
                        .redirectErrorStream(true)
                        .start();
        if (!other.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            other.destroyForcibly();
            throw new IOException("no answer within " + PATIENCE_SECONDS + " s");
        }
        if (other.exitValue() != 0) {
            throw new IOException(new String(other.getInputStream().readAllBytes()).trim());
        }
    }
}
