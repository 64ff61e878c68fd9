// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

/**
 * Passes connections on from ports of its own to those of servers, as the link that each belongs to allows. One thread
 * does everything; other threads hand it what is to be done.
 */
final class Relay implements Closeable {
    private static final int CONNECT_MS = 1_000;
    /** How long a follower that was accepted here may wait for a leader that does not listen yet. */
    private static final long REFUSED_NANOS = 3_000_000_000L;
    private static final long RETRY_MS = 10;

    private final Selector selector = Selector.open();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Thread thread = new Thread(this::run, "relay");
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
    // used by the thread alone
    private final List<RelayedConnection> connections = new ArrayList<>();
    private final List<Waiting> waiting = new ArrayList<>();
    private boolean closing = false;

    Relay() throws IOException {
        thread.setDaemon(true);
        thread.start();
    }

    /** Listens from now on, for connections that this member makes to the target. */
    void open(Link link, int from, int port, int target, boolean election) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open();
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(loopback(port));
            listener.configureBlocking(false);
        } catch (IOException e) {
            listener.close();
            throw e;
        }
        perform(() -> {
            try {
                listener.register(selector, SelectionKey.OP_ACCEPT, new Entrance(link, from, target, election));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** On return it is so. The member counts for a link that is stranded. */
    void set(Link link, Link.Mode mode, int member, int delayMs) {
        perform(() -> {
            link.mode = mode;
            link.stranded = member;
            link.delayNanos = delayMs * 1_000_000L;
            switch (mode) {
                case CUT:
                    reset(connection -> connection.link == link);
                    break;
                case STRANDED:
                    connections.stream()
                            .filter(connection -> connection.link == link)
                            .forEach(connection -> connection.strand(member));
                    break;
                case PASSING:
                    reset(connection -> connection.link == link && connection.isDead());
                    break;
                default:
                    break;
            }
            // Those that wait for their target follow with the next attempt.
        });
    }

    Link.Mode modeOf(Link link) {
        Link.Mode[] mode = new Link.Mode[1];
        perform(() -> mode[0] = link.mode);
        return mode[0];
    }

    @Override
    public void close() {
        perform(() -> closing = true);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Entrance {
        final Link link;
        final int from;
        final int target;
        final boolean election;

        Entrance(Link link, int from, int target, boolean election) {
            this.link = link;
            this.from = from;
            this.target = target;
            this.election = election;
        }
    }

    /** Accepted, but refused by the target so far. */
    private static final class Waiting {
        final SocketChannel near;
        final Entrance entrance;
        final long until = System.nanoTime() + REFUSED_NANOS;

        Waiting(SocketChannel near, Entrance entrance) {
            this.near = near;
            this.entrance = entrance;
        }
    }

    /** Returns when the thread has done it, and has closed what it told the system to close. */
    private void perform(Runnable task) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        tasks.add(() -> {
            try {
                task.run();
                // A registered channel is closed in full by the next selection only.
                selector.selectNow();
                done.complete(null);
            } catch (IOException | RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        selector.wakeup();
        done.join();
    }

    private void run() {
        try {
            while (!closing) {
                select();
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    task.run();
                }
                accept();
                waiting.removeIf(each -> connect(each.near, each.entrance, System.nanoTime() > each.until));
                pump();
            }
            for (Waiting each : waiting) {
                reset(each.near);
            }
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
            reset(connection -> true);
            selector.close();
        } catch (IOException e) {
            throw new IllegalStateException("the relay has ended", e);
        }
    }

    private void select() throws IOException {
        long due = Long.MAX_VALUE;
        for (RelayedConnection connection : connections) {
            due = Math.min(due, connection.nextDue());
        }
        if (!waiting.isEmpty()) {
            due = Math.min(due, System.nanoTime() + RETRY_MS * 1_000_000);
        }
        if (due == Long.MAX_VALUE) {
            selector.select();
            return;
        }
        long wait = due - System.nanoTime();
        if (wait <= 0) {
            selector.selectNow();
        } else {
            selector.select(wait / 1_000_000 + 1);
        }
    }

    private void accept() {
        for (SelectionKey key : selector.keys()) {
            if (!key.isValid() || !(key.attachment() instanceof Entrance)) {
                continue;
            }
            try {
                SocketChannel near = ((ServerSocketChannel) key.channel()).accept();
                Entrance entrance = (Entrance) key.attachment();
                // Members retry elections by themselves. A follower that is reset by the leader of its choice elects
                // again, while the leader waits for it; so it has to wait for a leader that is slower than itself.
                if (near != null && !connect(near, entrance, entrance.election)) {
                    waiting.add(new Waiting(near, entrance));
                }
            } catch (IOException e) {
                // Gone before it was accepted.
            }
        }
    }

    /** False if the target refused and there may be another attempt; else the connection is made or reset. */
    private boolean connect(SocketChannel near, Entrance entrance, boolean lastAttempt) {
        Link link = entrance.link;
        if (link.mode == Link.Mode.CUT || (link.mode == Link.Mode.STRANDED && link.stranded != entrance.from)) {
            reset(near);
            return true;
        }
        try {
            SocketChannel far = null;
            if (link.mode == Link.Mode.PASSING) {
                far = SocketChannel.open();
                try {
                    far.socket().connect(loopback(entrance.target), CONNECT_MS);
                } catch (IOException e) {
                    far.close();
                    if (lastAttempt) {
                        reset(near);
                    }
                    return lastAttempt;
                }
            }
            connections.add(new RelayedConnection(
                    link, entrance.from, near, far, entrance.election ? new ElectionGreeting() : null, selector));
        } catch (IOException e) {
            reset(near);
        }
        return true;
    }

    private static void reset(SocketChannel channel) {
        try {
            channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            channel.close();
        } catch (IOException e) {
            // Its peer was faster.
        }
    }

    private void pump() {
        long now = System.nanoTime();
        connections.removeIf(connection -> !connection.pump(now, buffer));
        selector.selectedKeys().clear();
    }

    private void reset(Predicate<RelayedConnection> which) {
        for (Iterator<RelayedConnection> each = connections.iterator(); each.hasNext();) {
            RelayedConnection connection = each.next();
            if (which.test(connection)) {
                connection.close(true);
                each.remove();
            }
        }
    }

    private static InetSocketAddress loopback(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }
}
