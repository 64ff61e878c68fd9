// SPDX-License-Identifier: Apache-2.0
package zkrecipes.interop;

import java.io.IOException;
import java.util.Collection;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.zookeeper.CreateMode;

/** One hold at a time of a Curator lock of any kind. All calls on one thread, as Curator wants it. */
abstract class AnyLock {
  abstract void acquire() throws Exception;

  /** Several permits of a semaphore; Curator takes one after the other and keeps what it has. */
  void acquire(int permits) throws Exception {
    if (permits != 1) throw new IOException("not a semaphore");
    acquire();
  }

  abstract void release() throws Exception;

  /** The full path of the node that holds. */
  abstract String node() throws Exception;

  void whenRevoked(Runnable told) throws Exception {}

  void downgrade() throws Exception {
    throw new IOException("not a write lock");
  }

  static AnyLock make(CuratorFramework client, String kind, String path, int permits) throws IOException {
    switch (kind) {
      case "exclusive":
        return new Mutex(client, path);
      case "read":
      case "write":
        return new ReadWrite(client, path, kind.equals("write"));
      case "permit":
        return new Permit(client, path, permits);
      default:
        throw new IOException("no such kind of lock: " + kind);
    }
  }

  /** Curator keeps the path of its node to its subclasses. */
  private static final class OpenMutex extends InterProcessMutex {
    OpenMutex(CuratorFramework client, String path) {
      super(client, path);
    }

    String node() {
      return getLockPath();
    }
  }

  private static final class Mutex extends AnyLock {
    private final OpenMutex mutex;

    Mutex(CuratorFramework client, String path) {
      mutex = new OpenMutex(client, path);
    }

    @Override
    void acquire() throws Exception {
      mutex.acquire();
    }

    @Override
    void release() throws Exception {
      mutex.release();
    }

    @Override
    String node() {
      return mutex.node();
    }

    @Override
    void whenRevoked(Runnable told) {
      mutex.makeRevocable(same -> told.run());
    }
  }

  private static final class OpenWriteLock extends InterProcessReadWriteLock.WriteLock {
    OpenWriteLock(CuratorFramework client, String path) {
      super(client, path, null);
    }

    String node() {
      return getLockPath();
    }
  }

  private static final class OpenReadLock extends InterProcessReadWriteLock.ReadLock {
    OpenReadLock(CuratorFramework client, String path, OpenWriteLock writeLock) {
      super(client, path, null, writeLock);
    }

    String node() {
      return getLockPath();
    }
  }

  private static final class ReadWrite extends AnyLock {
    private final CuratorFramework client;
    private final String path;
    private final OpenWriteLock writeLock;
    private final OpenReadLock readLock;
    private boolean writing;
    private String downgraded;
    private final boolean wantsToWrite;

    ReadWrite(CuratorFramework client, String path, boolean write) {
      this.client = client;
      this.path = path;
      writeLock = new OpenWriteLock(client, path);
      readLock = new OpenReadLock(client, path, writeLock);
      wantsToWrite = write;
    }

    @Override
    void acquire() throws Exception {
      writing = wantsToWrite;
      if (writing) writeLock.acquire();
      else readLock.acquire();
    }

    @Override
    void release() throws Exception {
      if (writing) writeLock.release();
      else if (downgraded != null) client.delete().guaranteed().forPath(downgraded);
      else readLock.release();
    }

    @Override
    String node() {
      return writing ? writeLock.node() : readLock.node();
    }

    /**
     * The read node that Curator 5.5 makes. Up to 5.4 readLock().acquire() queues at the back instead, and whichever
     * writer waits gets in beside it (CURATOR-621): no other client can prevent that.
     */
    @Override
    void downgrade() throws Exception {
      String mine = writeLock.node();
      String sequence = mine.substring(mine.lastIndexOf("__WRIT__") + "__WRIT__".length());
      downgraded =
          client.create().withProtection().withMode(CreateMode.EPHEMERAL).forPath(path + "/__READ__" + sequence);
      writeLock.release();
      writing = false;
    }
  }

  private static final class Permit extends AnyLock {
    private final InterProcessSemaphoreV2 semaphore;
    private final String path;
    private Collection<Lease> leases;

    Permit(CuratorFramework client, String path, int permits) {
      semaphore = new InterProcessSemaphoreV2(client, path, permits);
      this.path = path;
    }

    @Override
    void acquire() throws Exception {
      acquire(1);
    }

    @Override
    void acquire(int permits) throws Exception {
      leases = semaphore.acquire(permits);
    }

    @Override
    void release() {
      semaphore.returnAll(leases);
    }

    @Override
    String node() {
      return path + "/leases/" + leases.iterator().next().getNodeName();
    }
  }
}
