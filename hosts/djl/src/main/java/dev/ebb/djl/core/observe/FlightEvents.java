package dev.ebb.djl.core.observe;

import dev.ebb.djl.core.books.Books;
import java.util.Map;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** Events for Flight Recorder. Until a program records there are none, and nothing is read. */
public final class FlightEvents {

    private static volatile boolean recorded;

    private FlightEvents() {}

    /** The books, once a second. */
    @Name("dev.ebb.Memory")
    @Label("Device Memory")
    @Description("What arrays hold, and what became of them")
    @Category("Ebb")
    @Period("1 s")
    @StackTrace(false)
    static final class MemoryEvent extends Event {
        @Label("Live Arrays")
        long live;

        @Label("Live Bytes")
        @DataAmount
        long liveBytes;

        @Label("Created Arrays")
        long created;

        @Label("Reclaimed Arrays")
        long reclaimed;

        @Label("Reclaimed Bytes")
        @DataAmount
        long reclaimedBytes;

        @Label("Waiting To Be Reclaimed")
        long orphans;
    }

    /** A collection that Ebb asked the JVM for. */
    @Name("dev.ebb.Collection")
    @Label("Collection For Device Memory")
    @Description("Ebb asked the JVM to collect")
    @Category("Ebb")
    static final class CollectionEvent extends Event {}

    /** From now on, whenever somebody records; nothing where this JVM has no Flight Recorder. */
    public static void install() {
        FlightRecorder.addListener(
                new FlightRecorderListener() {
                    @Override
                    public void recorderInitialized(FlightRecorder recorder) {
                        FlightRecorder.addPeriodicEvent(MemoryEvent.class, FlightEvents::tell);
                        recorded = true;
                    }
                });
    }

    private static void tell() {
        Map<String, Long> books = Books.read();
        MemoryEvent event = new MemoryEvent();
        event.live = books.get("live");
        event.liveBytes = books.get("liveBytes");
        event.created = books.get("created");
        event.reclaimed = books.get("reclaimed");
        event.reclaimedBytes = books.get("reclaimedBytes");
        event.orphans = books.get("orphans");
        event.commit();
    }

    /** Runs a collection, as an event where somebody records. */
    public static void collection(Runnable collection) {
        if (!recorded) {
            collection.run();
            return;
        }
        CollectionEvent event = new CollectionEvent();
        event.begin();
        collection.run();
        event.commit();
    }
}
