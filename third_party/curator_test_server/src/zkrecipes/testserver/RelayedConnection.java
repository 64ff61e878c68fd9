// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;

/** One connection through a relay: two sockets, and what is on its way between them. Used by the relay's thread. */
final class RelayedConnection {
    private static final int MOST_WAITING = 4 << 20;

    final Link link;
    private final int from;
    private final End near;
    /** Null if the peer was never reached. */
    private final End far;
    private final Direction there;
    private final Direction back;
    /** Nothing will ever pass again, though one end at least is still open. */
    private boolean dead;

    /** Without `far` the connection goes nowhere. */
    RelayedConnection(
            Link link, int from, SocketChannel near, SocketChannel far, ElectionGreeting greeting, Selector selector)
            throws IOException {
        this.link = link;
        this.from = from;
        this.dead = far == null;
        this.near = new End(near, dead ? null : selector);
        this.far = dead ? null : new End(far, selector);
        there = new Direction(this.near, this.far, greeting);
        back = new Direction(this.far, this.near, null);
    }

    boolean isDead() {
        return dead;
    }

    /** The end of this member stays open, silent for ever; the other one is reset. */
    void strand(int member) {
        if (dead) {
            return;
        }
        dead = true;
        End staying = member == from ? near : far;
        (member == from ? far : near).close(true);
        if (staying.key.isValid()) {
            staying.key.interestOps(0);
        }
    }

    /** Moves what can be moved. Returns false when the connection is over, and has then closed it. */
    boolean pump(long now, ByteBuffer buffer) {
        if (dead) {
            return true;
        }
        try {
            boolean passing = link.mode == Link.Mode.PASSING;
            if (passing) {
                there.pump(now, buffer);
                back.pump(now, buffer);
            }
            if (there.shut && back.shut) {
                close(false);
                return false;
            }
            near.key.interestOps(passing ? there.readInterest() | back.writeInterest(now) : 0);
            far.key.interestOps(passing ? back.readInterest() | there.writeInterest(now) : 0);
            return true;
        } catch (IOException | RuntimeException e) {
            close(true);
            return false;
        }
    }

    /** When something that waits is due; Long.MAX_VALUE if nothing waits for time to pass. */
    long nextDue() {
        return dead || link.mode != Link.Mode.PASSING
                ? Long.MAX_VALUE
                : Math.min(there.nextDue(), back.nextDue());
    }

    void close(boolean reset) {
        near.close(reset);
        if (far != null) {
            far.close(reset);
        }
    }

    private static final class End {
        final SocketChannel channel;
        final SelectionKey key;

        End(SocketChannel channel, Selector selector) throws IOException {
            this.channel = channel;
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            key = selector == null ? null : channel.register(selector, SelectionKey.OP_READ);
        }

        void close(boolean reset) {
            try {
                if (reset) {
                    channel.setOption(StandardSocketOptions.SO_LINGER, 0);
                }
            } catch (IOException | RuntimeException e) {
                // Its peer was faster.
            }
            try {
                channel.close();
            } catch (IOException e) {
                // As good as closed.
            }
        }
    }

    private static final class Chunk {
        final long arrived;
        /** Null: the end of the stream. */
        final ByteBuffer data;

        Chunk(long arrived, ByteBuffer data) {
            this.arrived = arrived;
            this.data = data;
        }
    }

    private final class Direction {
        final End from;
        final End to;
        final ElectionGreeting greeting;
        final Deque<Chunk> waiting = new ArrayDeque<>();
        long bytesWaiting = 0;
        /** The end was read. */
        boolean ended = false;
        /** The end was passed on. */
        boolean shut = false;

        Direction(End from, End to, ElectionGreeting greeting) {
            this.from = from;
            this.to = to;
            this.greeting = greeting;
        }

        void pump(long now, ByteBuffer buffer) throws IOException {
            if (!ended && bytesWaiting < MOST_WAITING && from.key.isReadable()) {
                buffer.clear();
                int count = from.channel.read(buffer);
                buffer.flip();
                if (count == -1) {
                    ended = true;
                    waiting.add(new Chunk(now, null));
                } else if (count > 0) {
                    ByteBuffer copy = ByteBuffer.allocate(count);
                    copy.put(buffer).flip();
                    ByteBuffer data = greeting == null ? copy : greeting.pass(copy);
                    bytesWaiting += data.remaining();
                    waiting.add(new Chunk(now, data));
                }
            }
            while (!waiting.isEmpty() && isDue(now)) {
                Chunk chunk = waiting.peek();
                if (chunk.data == null) {
                    to.channel.shutdownOutput();
                    shut = true;
                } else {
                    bytesWaiting -= to.channel.write(chunk.data);
                    if (chunk.data.hasRemaining()) {
                        return;
                    }
                }
                waiting.remove();
            }
        }

        int readInterest() {
            return !ended && bytesWaiting < MOST_WAITING ? SelectionKey.OP_READ : 0;
        }

        int writeInterest(long now) {
            return !waiting.isEmpty() && isDue(now) ? SelectionKey.OP_WRITE : 0;
        }

        /** The delay of this moment counts, so that a link that is healed passes at once what it held back. */
        boolean isDue(long now) {
            return waiting.peek().arrived + link.delayNanos <= now;
        }

        long nextDue() {
            return waiting.isEmpty() ? Long.MAX_VALUE : waiting.peek().arrived + link.delayNanos;
        }
    }
}
