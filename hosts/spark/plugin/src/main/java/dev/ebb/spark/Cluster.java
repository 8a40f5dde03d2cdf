package dev.ebb.spark;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.resource.ExecutorResourceRequest;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerResourceProfileAdded;
import org.apache.spark.scheduler.cluster.ExecutorInfo;

/** At the driver: which executors there are, and what they were asked for. */
final class Cluster extends SparkListener {

    private final ClusterBooks books;
    private final ConcurrentHashMap<String, ExecutorInfo> executors = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Long> overheads = new ConcurrentHashMap<>();

    Cluster(ClusterBooks books) {
        this.books = books;
    }

    @Override
    public void onExecutorAdded(SparkListenerExecutorAdded added) {
        executors.put(added.executorId(), added.executorInfo());
        books.added(added.executorId(), added.executorInfo().executorHost());
    }

    @Override
    public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
        executors.remove(removed.executorId());
        books.lost(removed.executorId());
    }

    @Override
    public void onResourceProfileAdded(SparkListenerResourceProfileAdded added) {
        ResourceProfile profile = added.resourceProfile();
        ExecutorResourceRequest overhead = profile.executorResourcesJMap().get("memoryOverhead");
        if (profile.id() != 0 && overhead != null) { // 0: the default one, which the settings describe
            overheads.put(profile.id(), overhead.amount() << 20); // Spark keeps it in MB
        }
    }

    /** What an executor wants to know of itself: "cores", "overhead" in bytes; nothing yet if it is too new. */
    HashMap<String, Object> known(String executor) {
        HashMap<String, Object> known = new HashMap<>();
        ExecutorInfo info = executors.get(executor);
        if (info != null) {
            known.put("cores", info.totalCores());
            Long overhead = overheads.get(info.resourceProfileId());
            if (overhead != null) {
                known.put("overhead", overhead);
            }
        }
        return known;
    }
}
