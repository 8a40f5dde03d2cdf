package dev.ebb.djl.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;

/** A LightGBM model of one tree in the engine's text format: below {@link #THRESHOLD} in the first column 1, else 2. */
public final class LightGbmModel {
    public static final float THRESHOLD = 0.5f;

    private LightGbmModel() {}

    /** Writes {@code tree.txt}, for rows of so many columns, into the folder. */
    public static void write(Path folder, int columns) throws IOException {
        String text =
                String.join(
                        "\n",
                        "tree",
                        "version=v3",
                        "num_class=1",
                        "num_tree_per_iteration=1",
                        "label_index=0",
                        "max_feature_idx=" + (columns - 1),
                        "objective=regression",
                        "feature_names=" + repeated("column", columns),
                        "feature_infos=" + repeated("[0:1]", columns),
                        "",
                        "Tree=0",
                        "num_leaves=2",
                        "num_cat=0",
                        "split_feature=0",
                        "split_gain=1",
                        "threshold=" + THRESHOLD,
                        "decision_type=2",
                        "left_child=-1",
                        "right_child=-2",
                        "leaf_value=1 2",
                        "leaf_weight=1 1",
                        "leaf_count=1 1",
                        "internal_value=0",
                        "internal_weight=0",
                        "internal_count=2",
                        "shrinkage=1",
                        "",
                        "end of trees",
                        "");
        Files.writeString(folder.resolve("tree.txt"), text);
    }

    private static String repeated(String word, int times) {
        return String.join(" ", Collections.nCopies(times, word));
    }
}
