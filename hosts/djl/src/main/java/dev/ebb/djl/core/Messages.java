package dev.ebb.djl.core;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What Ebb says to people: one line on stderr, each said once. */
public final class Messages {

    private static final int MOST = 64;
    private static final Set<String> SAID = ConcurrentHashMap.newKeySet();

    private Messages() {}

    public static void say(String message) {
        if (SAID.size() < MOST && SAID.add(message)) {
            System.err.println(message.startsWith("[ebb]") ? message : "[ebb] " + message);
        }
    }
}
