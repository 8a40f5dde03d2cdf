package dev.ebb.spark.page4;

import jakarta.servlet.http.HttpServletRequest;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.UIUtils;
import org.apache.spark.ui.WebUIPage;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.xml.Node;
import scala.xml.Unparsed;

/** The tab "Device memory" in the web interface of Spark 4, whose servlets and sequences are not those of Spark 3. */
public final class MemoryPage extends WebUIPage {

    private final Tab tab;
    private final Supplier<String> content;

    private MemoryPage(Tab tab, Supplier<String> content) {
        super("");
        this.tab = tab;
        this.content = content;
    }

    /** Adds the tab, if this application has a web interface. */
    public static void add(SparkContext context, String path, String name, Supplier<String> content) {
        Option<SparkUI> ui = context.ui();
        if (ui.isDefined()) {
            Tab tab = new Tab(ui.get(), path, name);
            tab.attachPage(new MemoryPage(tab, content));
            ui.get().attachTab(tab);
        }
    }

    @Override
    public Seq<Node> render(HttpServletRequest request) {
        Seq<Node> body = new Unparsed(content.get());
        return UIUtils.headerSparkPage(request, tab.name(), () -> body, tab, Option.empty(), false, false);
    }

    private static final class Tab extends SparkUITab {
        private final String title;

        Tab(SparkUI parent, String path, String title) {
            super(parent, path);
            this.title = title;
        }

        @Override
        public String name() {
            return title == null ? prefix() : title; // Scala's constructor may ask before ours is done
        }
    }
}
