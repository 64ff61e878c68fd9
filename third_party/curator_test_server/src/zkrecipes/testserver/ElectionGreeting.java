// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.nio.ByteBuffer;

/**
 * The first message on an election connection, shortened on its way through a relay.
 *
 * <p>ZooKeeper 3.8 sends a protocol version (below 0), its server id and its own election address. A receiver with a
 * larger id ends the connection and connects back to that address, which is not behind a relay. The older form of the
 * message is the server id alone; the receiver then connects back to the address of its own configuration, which is.
 */
final class ElectionGreeting {
    private static final int HEAD = 8 + 8 + 4;

    private final ByteBuffer collected = ByteBuffer.allocate(1024);
    private boolean complete = false;

    /** Returns what to send on: nothing until the message is complete, everything after it. */
    ByteBuffer pass(ByteBuffer received) {
        if (complete) {
            return received;
        }
        while (received.hasRemaining() && collected.position() < wanted()) {
            collected.put(received.get());
        }
        if (collected.position() < wanted()) {
            return ByteBuffer.allocate(0);
        }
        complete = true;
        boolean old = collected.getLong(0) >= 0;
        ByteBuffer out = ByteBuffer.allocate(8 + received.remaining());
        out.putLong(collected.getLong(old ? 0 : 8)).put(received).flip();
        return out;
    }

    private int wanted() {
        if (collected.position() < 8) {
            return 8;
        }
        if (collected.getLong(0) >= 0) {
            return 8;
        }
        if (collected.position() < HEAD) {
            return HEAD;
        }
        int length = collected.getInt(16);
        return HEAD + Math.max(0, Math.min(length, collected.capacity() - HEAD));
    }
}
