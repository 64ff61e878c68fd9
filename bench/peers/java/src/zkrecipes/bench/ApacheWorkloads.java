// SPDX-License-Identifier: Apache-2.0
package zkrecipes.bench;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

/**
 * The lock recipe that Apache ships with ZooKeeper. Uncontended only: when its predecessor is removed between listing and
 * watching, its lock() returns false and nothing wakes it.
 */
final class ApacheWorkloads {
    private ApacheWorkloads() {}

    static Workload make(Options options) throws Exception {
        if (!options.workload.equals("lock") && !options.workload.equals("confirmed")) {
            throw new IllegalArgumentException("apache has no workload '" + options.workload + "'");
        }
        ZooKeeper zooKeeper = connect(options);
        makeParents(zooKeeper, options.path());
        Semaphore acquired = new Semaphore(0);
        WriteLock lock = new WriteLock(zooKeeper, options.path(), ZooDefs.Ids.OPEN_ACL_UNSAFE, new LockListener() {
            @Override
            public void lockAcquired() {
                acquired.release();
            }

            @Override
            public void lockReleased() {}
        });
        return cycles -> {
            for (int i = 0; i < cycles; i++) {
                lock.lock();
                acquired.acquire();
                lock.unlock();
            }
        };
    }

    private static ZooKeeper connect(Options options) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper zooKeeper = new ZooKeeper(options.server, 30_000, event -> connected.countDown());
        connected.await();
        return zooKeeper;
    }

    private static void makeParents(ZooKeeper zooKeeper, String path) throws Exception {
        for (int end = path.indexOf('/', 1);; end = path.indexOf('/', end + 1)) {
            String parent = end < 0 ? path : path.substring(0, end);
            try {
                zooKeeper.create(parent, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            } catch (KeeperException.NodeExistsException e) {
                // as wanted
            }
            if (end < 0) {
                return;
            }
        }
    }
}
