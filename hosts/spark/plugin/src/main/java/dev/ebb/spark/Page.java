package dev.ebb.spark;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the tab "Device memory" of Spark's web interface shows. */
final class Page {

    private static final Logger LOG = LoggerFactory.getLogger(Page.class);
    private static final String TABLE = "<table class=\"table table-bordered table-sm table-striped sortable\"><thead><tr>";

    private final ClusterBooks books;
    private final StageSums sums;
    private final int top;
    private final StringBuilder html = new StringBuilder();

    private Page(ClusterBooks books, StageSums sums, int top) {
        this.books = books;
        this.sums = sums;
        this.top = top;
    }

    /** Spark 4 has other servlets than Spark 3: the class that fits is chosen by name. */
    static void add(SparkContext context, ClusterBooks books, StageSums sums, int top) {
        String major = context.version().split("\\.")[0];
        Supplier<String> content = () -> new Page(books, sums, top).render();
        try {
            Class.forName("dev.ebb.spark.page" + major + ".MemoryPage")
                    .getMethod("add", SparkContext.class, String.class, String.class, Supplier.class)
                    .invoke(null, context, "ebb", "Device memory", content);
        } catch (ReflectiveOperationException | LinkageError e) {
            LOG.warn("[ebb] no page in the web interface of Spark {}; known: 3.5 and 4", context.version(), e);
        }
    }

    static String render(ClusterBooks books, Map<Integer, long[]> stages, int top) {
        Page page = new Page(books, null, top);
        page.write(stages);
        return page.html.toString();
    }

    private String render() {
        return render(books, sums.values(), top);
    }

    private void write(Map<Integer, long[]> stages) {
        html.append("<div id=\"ebb\"><p>DJL arrays of this application: ")
                .append(Sizes.show(books.sum("liveBytes"))).append(" held, ")
                .append(Sizes.show(books.sum("createdBytes"))).append(" made, ")
                .append(Sizes.show(books.sum("reclaimedBytes"))).append(" given back by Ebb.</p>");
        executors();
        sites();
        kept();
        stages(stages);
        html.append("</div>");
    }

    private void begin(String title, String id, String... columns) {
        html.append("<h4>").append(title).append("</h4>").append(TABLE.replace("<table", "<table id=\"" + id + "\""));
        for (String column : columns) {
            html.append("<th>").append(column).append("</th>");
        }
        html.append("</tr></thead><tbody>");
    }

    private void row(Object... cells) {
        html.append("<tr>");
        for (Object cell : cells) {
            String key = cell instanceof Bytes bytes ? " sorttable_customkey=\"" + bytes.count + "\"" : "";
            html.append("<td").append(key).append(">").append(escape(String.valueOf(cell))).append("</td>");
        }
        html.append("</tr>");
    }

    private void end() {
        html.append("</tbody></table>");
    }

    private void executors() {
        begin("Executors", "ebb-executors", "Executor", "Host", "State", "Held", "Most held", "Budget", "Made",
                "Closed by the program", "Given back by Ebb", "Bytes given back", "Collections", "Time collecting");
        for (ExecutorBooks each : books.executors()) {
            row(each.id, each.host, state(each), new Bytes(each.liveBytes()), new Bytes(each.value("peakLiveBytes")),
                    new Bytes(each.budget), each.value("created"), each.value("disposed") + each.value("regionEnded"),
                    each.value("reclaimed"), new Bytes(each.value("reclaimedBytes")), each.value("collections"),
                    each.value("collectNanos") / 1_000_000 + " ms");
        }
        end();
    }

    private static String state(ExecutorBooks each) {
        String state = each.lost ? "lost" : "active";
        return each.without == null ? state : state + ", without Ebb: " + each.without;
    }

    private void sites() {
        begin("Lines that hold most", "ebb-sites", "Line", "Arrays", "Held", "Most held", "Given back by Ebb", "Bytes given back");
        List<ClusterBooks.Site> sites = books.sites();
        for (ClusterBooks.Site each : sites.subList(0, Math.min(top, sites.size()))) {
            row(lineOf(each.text), each.held, new Bytes(each.heldBytes), new Bytes(each.mostBytes), each.reclaimed,
                    new Bytes(each.reclaimedBytes));
        }
        end();
    }

    private void kept() {
        begin("Tasks that left reachable arrays: " + books.keptTasks(), "ebb-kept", "Task", "Executor", "Arrays", "Bytes", "Lines");
        List<ClusterBooks.Kept> kept = books.kept();
        for (ClusterBooks.Kept each : kept.subList(0, Math.min(top, kept.size()))) {
            long[] sum = new long[2];
            StringBuilder lines = new StringBuilder();
            each.lines().forEach(
                    (line, counted) -> {
                        sum[0] += counted[0];
                        sum[1] += counted[1];
                        lines.append(lines.length() == 0 ? "" : "; ").append(lineOf(line));
                    });
            row(each.task(), each.executor(), sum[0], new Bytes(sum[1]), lines);
        }
        end();
    }

    private void stages(Map<Integer, long[]> stages) {
        begin("Stages", "ebb-stages", "Stage", "Arrays made", "Bytes made", "Arrays not closed", "Bytes not closed");
        stages.forEach((stage, row) -> row(stage, row[0], new Bytes(row[1]), row[2], new Bytes(row[3])));
        end();
    }

    static String lineOf(String site) {
        return site.isEmpty() ? "(not traced)" : site.split("\n")[0];
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }

    /** Shown for people, sorted by count. */
    private record Bytes(long count) {
        @Override
        public String toString() {
            return Sizes.show(count);
        }
    }
}
