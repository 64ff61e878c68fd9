// SPDX-License-Identifier: Apache-2.0
package zkrecipes.interop;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;
import org.apache.zookeeper.data.Stat;

/** Curator in the queue; what it understands is in tests/interop/README.md. */
public final class CuratorWorker {
  private final CuratorFramework client;
  private final FileOutputStream history;
  private final String name;
  private final Map<String, LinkedBlockingQueue<String>> orders = new ConcurrentHashMap<>();
  private volatile boolean looping;
  private volatile long lostAt;
  private volatile long operations;
  private Thread looper;

  private CuratorWorker(String servers, String file, String name, int timeout) throws Exception {
    this.name = name;
    history = new FileOutputStream(file, true);
    client = CuratorFrameworkFactory.newClient(servers, timeout, 15_000, new RetryForever(100));
    client.getConnectionStateListenable().addListener((same, state) -> {
      if (state == ConnectionState.LOST) lostAt = System.nanoTime();
    });
    client.start();
    if (!client.blockUntilConnected(30, TimeUnit.SECONDS)) throw new IOException("not connected");
  }

  private static synchronized void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** The czxid, or null when the node is gone. */
  private Long token(String node) throws Exception {
    Stat stat = client.checkExists().forPath(node);
    return stat == null ? null : stat.getCzxid();
  }

  private void carryOut(String line) throws Exception {
    String[] words = line.trim().split(" +");
    switch (words[0]) {
      case "acquire":
        acquire(words[1], words[2], words[3], words.length > 4 ? Integer.parseInt(words[4]) : 1);
        break;
      case "release":
      case "downgrade":
        orders.get(words[1]).add(words[0]);
        break;
      case "revoke":
        Revoker.attemptRevoke(client, words[1]);
        say("revoke-sent");
        break;
      case "loop":
        looping = true;
        int permits = words.length > 3 ? Integer.parseInt(words[3]) : 1;
        int most = words.length > 4 ? Integer.parseInt(words[4]) : 1;
        looper = new Thread(() -> orFail(() -> loop(words[1], words[2], permits, most)));
        looper.start();
        break;
      case "stop":
        looping = false;
        if (looper != null) looper.join();
        say("stopped " + operations);
        break;
      default:
        throw new IOException("unknown command: " + line);
    }
  }

  /** Curator's locks belong to threads, so each acquire has one. */
  private void acquire(String kind, String path, String id, int permits) {
    LinkedBlockingQueue<String> own = new LinkedBlockingQueue<>();
    orders.put(id, own);
    Thread thread = new Thread(() -> orFail(() -> {
      AnyLock lock = AnyLock.make(client, kind, path, permits);
      lock.whenRevoked(() -> say("revoke-asked " + id));
      lock.acquire();
      say("granted " + id + " " + token(lock.node()) + " " + lock.node());
      for (;;) {
        if (own.take().equals("release")) break;
        lock.downgrade();
        say("downgraded " + id);
      }
      lock.release();
      say("released " + id);
    }));
    thread.setDaemon(true);
    thread.start();
  }

  private void loop(String kind, String path, int permits, int most) throws Exception {
    AnyLock lock = AnyLock.make(client, kind, path, permits);
    while (looping) {
      int wanted = 1 + ThreadLocalRandom.current().nextInt(most);
      long first = operations + 1;
      operations += wanted;
      write(first, wanted, "invoke", kind, System.nanoTime(), null);
      try {
        lock.acquire(wanted);
      } catch (Exception error) {
        write(first, wanted, "unknown", kind, System.nanoTime(), null);
        continue;
      }
      long granted = System.nanoTime();
      Long token = token(lock.node());
      if (token == null) {
        write(first, wanted, "unknown", kind, granted, null);
      } else {
        write(first, wanted, "ok", kind, granted, token);
        Thread.sleep(ThreadLocalRandom.current().nextInt(4));
        long now = System.nanoTime();
        boolean lost = lostAt > granted;
        write(first, wanted, lost ? "lost" : "release", kind, lost ? lostAt : now, token);
      }
      try {
        lock.release();
      } catch (Exception gone) {
        lock = AnyLock.make(client, kind, path, permits);
      }
    }
  }

  /** The same for each of the permits, which are operations of their own in the history. */
  private void write(long first, int permits, String event, String mode, long time, Long token) throws IOException {
    for (long operation = first; operation < first + permits; ++operation) {
      String line = name + " " + operation + " " + event + " " + mode + " " + time + " "
          + (token == null ? "-" : token.toString()) + "\n";
      history.write(line.getBytes(StandardCharsets.US_ASCII));
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  private static void orFail(Work work) {
    try {
      work.run();
    } catch (Exception error) {
      say("error " + error);
    }
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 4) {
      System.err.println("usage: CuratorWorker SERVERS HISTORY NAME SESSION_TIMEOUT_MS");
      System.exit(2);
    }
    int status = 0;
    try {
      CuratorWorker worker =
          new CuratorWorker(arguments[0], arguments[1], arguments[2], Integer.parseInt(arguments[3]));
      say("ready");
      BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
      for (String line = in.readLine(); line != null; line = in.readLine()) worker.carryOut(line);
      worker.client.close();
    } catch (Exception error) {
      say("error " + error);
      status = 1;
    }
    System.exit(status);
  }
}
