package dev.ebb.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the driver says when the application ends: by executor, by line, by stage; as text and as JSON. */
final class EndReport {

    private static final Logger LOG = LoggerFactory.getLogger(EndReport.class);

    private final ClusterBooks books;
    private final StageSums sums;
    private final int top;

    EndReport(ClusterBooks books, StageSums sums, int top) {
        this.books = books;
        this.sums = sums;
        this.top = top;
    }

    String text() {
        StringBuilder text = new StringBuilder("device memory of DJL arrays: ");
        text.append(books.sum("created")).append(" made (").append(Sizes.show(books.sum("createdBytes"))).append("), ");
        text.append(books.sum("reclaimed")).append(" given back by Ebb (");
        text.append(Sizes.show(books.sum("reclaimedBytes"))).append("), ");
        text.append(books.keptTasks()).append(" task(s) left reachable arrays");
        for (ExecutorBooks each : books.executors()) {
            text.append("\n  executor ").append(each.id).append(each.lost ? " (lost)" : "").append(": most held ");
            text.append(Sizes.show(each.value("peakLiveBytes"))).append(" of ").append(Sizes.show(each.budget));
            text.append(each.without == null ? "" : "; without Ebb: " + each.without);
        }
        List<ClusterBooks.Site> sites = books.sites();
        for (ClusterBooks.Site each : sites.subList(0, Math.min(top, sites.size()))) {
            text.append("\n  ").append(Page.lineOf(each.text)).append(": holds ").append(Sizes.show(each.heldBytes));
            text.append(", held ").append(Sizes.show(each.mostBytes)).append(" at most, ");
            text.append(Sizes.show(each.reclaimedBytes)).append(" in ").append(each.reclaimed);
            text.append(" array(s) given back by Ebb");
        }
        return text.toString();
    }

    void write(String file) {
        try {
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(new File(file), json());
        } catch (IOException e) {
            LOG.error("[ebb] the report could not be written to {}", file, e);
        }
    }

    Map<String, Object> json() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("format", "ebb-spark-report");
        all.put("version", 1);
        List<Object> executors = new ArrayList<>();
        for (ExecutorBooks each : books.executors()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("id", each.id);
            row.put("lost", each.lost);
            row.put("without", each.without);
            row.put("budget", each.budget);
            row.put("memory", each.memory);
            executors.add(row);
        }
        all.put("executors", executors);
        List<Object> sites = new ArrayList<>();
        for (ClusterBooks.Site each : books.sites()) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("text", each.text);
            row.put("held_bytes", each.heldBytes);
            row.put("most_bytes", each.mostBytes);
            row.put("reclaimed", each.reclaimed);
            row.put("reclaimed_bytes", each.reclaimedBytes);
            sites.add(row);
        }
        all.put("sites", sites);
        Map<String, Object> stages = new LinkedHashMap<>();
        sums.values().forEach((stage, row) -> stages.put(stage.toString(), row));
        all.put("stage_columns", StageSums.COLUMNS);
        all.put("stages", stages);
        all.put("kept_tasks", books.keptTasks());
        List<Object> kept = new ArrayList<>();
        books.kept().forEach(each -> kept.add(Map.of("task", each.task(), "executor", each.executor(), "lines", each.lines())));
        all.put("kept", kept);
        return all;
    }
}
