// SPDX-License-Identifier: Apache-2.0
package zkrecipes.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's recipes, used as its documentation does. */
final class CuratorWorkloads {
    private static final int PERMITS = 3;

    private CuratorWorkloads() {}

    static Workload make(Options options) throws Exception {
        switch (options.workload) {
            case "lock":
            case "confirmed": // a release of Curator's always waits for the server
                return repeated(new InterProcessMutex(connect(options), options.path()));
            case "read":
                return repeated(new InterProcessReadWriteLock(connect(options), options.path()).readLock());
            case "semaphore": {
                InterProcessSemaphoreV2 semaphore =
                        new InterProcessSemaphoreV2(connect(options), options.path(), PERMITS);
                return cycles -> {
                    for (int i = 0; i < cycles; i++) {
                        semaphore.returnLease(semaphore.acquire());
                    }
                };
            }
            case "reentry": {
                InterProcessMutex mutex = new InterProcessMutex(connect(options), options.path());
                mutex.acquire();
                return repeated(mutex);
            }
            case "handover":
                return handOver(options);
            case "drain":
                return new Drain(options);
            case "many":
                return new ManyLocks(options);
            default:
                throw new IllegalArgumentException("curator has no workload '" + options.workload + "'");
        }
    }

    private static CuratorFramework connect(Options options) throws InterruptedException {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(options.server, 30_000, 15_000, new ExponentialBackoffRetry(100, 5));
        client.start();
        client.blockUntilConnected();
        return client;
    }

    private static Workload repeated(InterProcessLock lock) {
        return cycles -> {
            for (int i = 0; i < cycles; i++) {
                lock.acquire();
                lock.release();
            }
        };
    }

    /** Threads, each with its own connection, take one lock in turn. A cycle is one hand-over. */
    private static Workload handOver(Options options) throws Exception {
        List<InterProcessMutex> mutexes = new ArrayList<>();
        for (int i = 0; i < options.contenders; i++) {
            mutexes.add(new InterProcessMutex(connect(options), options.path()));
        }
        return cycles -> {
            AtomicInteger left = new AtomicInteger(cycles);
            Threads threads = new Threads();
            for (InterProcessMutex mutex : mutexes) {
                threads.start(() -> {
                    while (left.getAndDecrement() > 0) {
                        mutex.acquire();
                        mutex.release();
                    }
                    return null;
                });
            }
            threads.join();
        };
    }

    /** As many waiters as cycles, a thread each; measured is how long the line takes to empty. */
    private static final class Drain implements Workload {
        private final List<CuratorFramework> clients = new ArrayList<>();
        private final InterProcessMutex holder;
        private final String path;
        private Threads waiters;

        Drain(Options options) throws Exception {
            path = options.path();
            holder = new InterProcessMutex(connect(options), path);
            for (int i = 0; i < options.contenders; i++) {
                clients.add(connect(options));
            }
        }

        @Override
        public void prepare(int cycles) throws Exception {
            holder.acquire();
            waiters = new Threads();
            for (int i = 0; i < cycles; i++) {
                InterProcessMutex mutex = new InterProcessMutex(clients.get(i % clients.size()), path);
                waiters.start(() -> {
                    mutex.acquire();
                    mutex.release();
                    return null;
                });
            }
            while (clients.get(0).checkExists().forPath(path).getNumChildren() < cycles + 1) {
                Thread.sleep(20);
            }
            Thread.sleep(200); // the last of them still set their watches
        }

        @Override
        public void run(int cycles) throws Exception {
            holder.release();
            waiters.join();
        }
    }

    /** As many different locks as cycles, shared out between threads on one connection. */
    private static final class ManyLocks implements Workload {
        private final List<InterProcessMutex> mutexes = new ArrayList<>();
        private final int threadCount;

        ManyLocks(Options options) throws Exception {
            threadCount = options.contenders;
            CuratorFramework client = connect(options);
            for (int i = 0; i < options.cycles; i++) {
                mutexes.add(new InterProcessMutex(client, options.path() + "/" + i));
            }
            run(options.cycles); // makes the parents
        }

        @Override
        public void run(int cycles) throws Exception {
            AtomicInteger next = new AtomicInteger();
            Threads threads = new Threads();
            for (int i = 0; i < threadCount; i++) {
                threads.start(() -> {
                    for (int lock = next.getAndIncrement(); lock < mutexes.size(); lock = next.getAndIncrement()) {
                        mutexes.get(lock).acquire();
                        mutexes.get(lock).release();
                    }
                    return null;
                });
            }
            threads.join();
        }
    }
}
