package dev.ebb.djl.core.observe;

import dev.ebb.djl.core.watching.Watch;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * What holds arrays, in a heap dump: the shortest path to each from what is always reachable, static fields before threads.
 * A program of its own, so that the heap it needs is not the one that it looks at.
 *
 * <pre>HeapPaths DUMP SITE,SITE...   one line for each site: its number, a tab, the path to most of its arrays
 * HeapPaths DUMP ""             the same for the array that is asked about ({@link Holders.Question})</pre>
 */
public final class HeapPaths {

    private static final int MOST = 64; // arrays of a site that are looked for
    private static final int SHOWN = 8; // steps
    private static final String WATCH = Watch.class.getName();
    private static final String QUESTION = Holders.Question.class.getName();
    private static final int UNREACHED = Integer.MIN_VALUE;
    private static final int OF_CLASSES = -1; // roots are -2 and less

    private final HeapDump dump;
    private final int[] parents;
    private final int[] queue;
    private final BitSet missing = new BitSet(); // what is looked for and not found yet
    private int from;
    private int to;

    private HeapPaths(HeapDump dump) {
        this.dump = dump;
        parents = new int[dump.objects.count];
        Arrays.fill(parents, UNREACHED);
        queue = new int[dump.objects.count];
    }

    public static void main(String[] arguments) throws Exception {
        HeapDump dump = new HeapDump(Path.of(arguments[0]), WATCH, QUESTION);
        HeapPaths paths = new HeapPaths(dump);
        Map<Integer, List<Long>> targets = new HashMap<>();
        long question = dump.instancesOf(QUESTION).get(0);
        if (arguments[1].isEmpty()) {
            targets.put(0, List.of(paths.referent(question)));
        } else {
            for (String site : arguments[1].split(",")) {
                targets.put(Integer.valueOf(site), new ArrayList<>());
            }
            paths.findBySite(targets);
        }
        paths.search(targets, paths.asker(question));
        targets.forEach(paths::print);
    }

    // ---- what is looked for

    private long referent(long reference) {
        return dump.file.id(dump.valueOf(reference, "referent", Reference.class.getName()));
    }

    private int asker(long question) {
        long thread = dump.file.id(dump.valueOf(question, "asker", QUESTION));
        for (Map.Entry<Integer, Long> each : dump.threads.entrySet()) {
            if (each.getValue() == thread) {
                return each.getKey();
            }
        }
        return -1;
    }

    /** Of each site some that are spread over all: the newest may be on their way still. */
    private void findBySite(Map<Integer, List<Long>> targets) {
        for (long watch : dump.instancesOf(WATCH)) {
            List<Long> listed = targets.get(dump.file.s4(dump.valueOf(watch, "site", WATCH)));
            long array = listed == null ? 0 : referent(watch);
            if (array != 0) {
                listed.add(array);
            }
        }
        targets.replaceAll((site, all) -> spread(all));
    }

    private static List<Long> spread(List<Long> all) {
        List<Long> some = new ArrayList<>();
        double step = Math.max(1, all.size() / (double) MOST);
        for (double i = 0; i < all.size(); i += step) {
            some.add(all.get((int) i));
        }
        return some;
    }

    // ---- the search

    /** Breadth first; what the asking thread's methods have counts only where there is nothing else. */
    private void search(Map<Integer, List<Long>> targets, int asker) {
        targets.values().forEach(ids -> ids.forEach(id -> miss(dump.objects.find(id))));
        for (long type : dump.types.keySet()) {
            reach(dump.objects.find(type), OF_CLASSES);
        }
        addRoots(asker, false);
        follow();
        addRoots(asker, true);
        follow();
    }

    private void miss(int object) {
        if (object >= 0) {
            missing.set(object);
        }
    }

    private void addRoots(int asker, boolean askers) {
        for (int i = 0; i < dump.roots.size(); i++) {
            HeapDump.Root root = dump.roots.get(i);
            if (askers == (asker != -1 && root.thread() == asker)) {
                reach(dump.objects.find(root.id()), -2 - i);
            }
        }
    }

    private void reach(int object, int parent) {
        if (object >= 0 && parents[object] == UNREACHED) {
            parents[object] = parent;
            queue[to++] = object;
        }
    }

    private void follow() {
        int left = missing.cardinality();
        while (from < to && left > 0) {
            int object = queue[from++];
            if (missing.get(object)) {
                missing.clear(object);
                left--;
            }
            forEachReference(dump.objects.placeOf(object), id -> reach(dump.objects.find(id), object));
        }
    }

    private void forEachReference(long place, LongConsumer visitor) {
        HeapFile file = dump.file;
        switch (file.u1(place)) {
            case HeapDump.ARRAY -> {
                long count = file.u4(place + 13);
                for (long i = 0; i < count; i++) {
                    visit(file.id(place + 25 + 8 * i), visitor);
                }
            }
            case HeapDump.INSTANCE -> {
                for (HeapDump.Reference each : dump.references(dump.typeAt(place))) {
                    visit(file.id(place + 25 + each.at()), visitor);
                }
            }
            default -> dump.types.get(file.id(place + 1)).statics.forEach(each -> visit(file.id(each.at()), visitor));
        }
    }

    private static void visit(long id, LongConsumer visitor) {
        if (id != 0) {
            visitor.accept(id);
        }
    }

    // ---- what is said

    private void print(int site, List<Long> ids) {
        Map<String, Integer> counts = new HashMap<>();
        for (long id : ids) {
            int object = dump.objects.find(id);
            if (object >= 0 && parents[object] != UNREACHED) {
                counts.merge(path(object), 1, Integer::sum);
            }
        }
        if (!counts.isEmpty()) {
            System.out.println(site + "\t" + Collections.max(counts.entrySet(), Map.Entry.comparingByValue()).getKey());
        }
    }

    private String path(int target) {
        ArrayDeque<Integer> objects = new ArrayDeque<>();
        int object = target;
        for (; object >= 0; object = parents[object]) {
            objects.addFirst(object);
        }
        List<String> steps = new ArrayList<>();
        int holder = objects.removeFirst();
        if (object == OF_CLASSES) {
            steps.add(""); // its static field says all
        } else {
            steps.add(rootText(dump.roots.get(-2 - object)) + typeText(holder));
        }
        for (int each : objects) {
            step(holder, each, steps);
            holder = each;
        }
        if (object == OF_CLASSES) {
            steps.remove(0);
        }
        return shortened(steps);
    }

    private String rootText(HeapDump.Root root) {
        if (root.thread() != -1) {
            return "a local of " + dump.method(root.thread(), root.frame());
        }
        return dump.threads.containsValue(root.id()) ? "a thread" : "native code";
    }

    /** What is inside the JDK's collections says nothing. */
    private void step(int holder, int held, List<String> steps) {
        HeapDump.Reference edge = edge(holder, held);
        boolean isStatic = dump.file.u1(dump.objects.placeOf(holder)) == HeapDump.CLASS;
        if (isStatic) {
            steps.add(HeapDump.simple(edge.declaredIn()) + "." + edge.name() + typeText(held));
        } else if (edge != null && !edge.declaredIn().startsWith("java.")) {
            steps.add("." + edge.name() + typeText(held));
        } else if (!isJdks(held)) {
            steps.add("[]" + typeText(held));
        }
    }

    /** Null: an element of an array. */
    private HeapDump.Reference edge(int holder, int held) {
        long place = dump.objects.placeOf(holder);
        long id = dump.objects.idOf(held);
        int kind = dump.file.u1(place);
        if (kind == HeapDump.ARRAY) {
            return null;
        }
        boolean isClass = kind == HeapDump.CLASS;
        List<HeapDump.Reference> all =
                isClass ? dump.types.get(dump.file.id(place + 1)).statics : dump.references(dump.typeAt(place));
        for (HeapDump.Reference each : all) {
            if (dump.file.id(isClass ? each.at() : place + 25 + each.at()) == id) {
                return each;
            }
        }
        throw new IllegalStateException("a path without a field");
    }

    private boolean isJdks(int object) {
        String name = nameOf(object);
        return name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("[");
    }

    private String nameOf(int object) {
        long place = dump.objects.placeOf(object);
        if (dump.file.u1(place) == HeapDump.CLASS) {
            return "java.lang.Class";
        }
        HeapDump.Type type = dump.typeAt(place);
        return type == null ? "?" : type.name;
    }

    private String typeText(int object) {
        return " (" + HeapDump.simple(nameOf(object)) + ")";
    }

    private static String shortened(List<String> steps) {
        List<String> shown = new ArrayList<>(steps);
        if (shown.size() > SHOWN) {
            List<String> last = List.copyOf(shown.subList(shown.size() - SHOWN / 2, shown.size()));
            shown = new ArrayList<>(shown.subList(0, SHOWN / 2));
            shown.add("...");
            shown.addAll(last);
        }
        return String.join(" -> ", shown);
    }
}
