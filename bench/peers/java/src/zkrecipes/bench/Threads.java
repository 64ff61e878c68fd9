// SPDX-License-Identifier: Apache-2.0
package zkrecipes.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Starts tasks, each on a thread of its own, and waits for them. The first that fails fails the whole. */
final class Threads {
    private final List<Future<?>> tasks = new ArrayList<>();
    private final ExecutorService executor = Executors.newCachedThreadPool();

    void start(Callable<?> task) {
        tasks.add(executor.submit(task));
    }

    void join() throws Exception {
        for (Future<?> task : tasks) {
            task.get();
        }
        tasks.clear();
        executor.shutdown();
        executor.awaitTermination(1, TimeUnit.MINUTES);
    }
}
