// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * Hands out loopback ports that stay ours while a server is stopped.
 *
 * <p>Ports come in blocks below the range from which the kernel picks the ports of outgoing connections: otherwise a
 * client that retries a stopped server could take the server's port, or even connect to itself. The first port of a
 * block stays bound as long as this process lives, which keeps other instances of this program out of the block.
 */
final class Ports {
    private static final int FIRST = 20_000;
    private static final int END = 32_640;
    private static final int BLOCK = 64;

    private final Random random = new Random();
    private final List<ServerSocket> guards = new ArrayList<>();
    private final Deque<Integer> free = new ArrayDeque<>();

    synchronized int take() throws IOException {
        while (true) {
            if (free.isEmpty()) {
                claimBlock();
            }
            int port = free.removeFirst();
            if (isFree(port)) {
                return port;
            }
        }
    }

    /** Returned ports are used again last, so that a late client of a closed server meets nobody. */
    synchronized void giveBack(Collection<Integer> ports) {
        free.addAll(ports);
    }

    static boolean isFree(int port) {
        try {
            bind(port).close();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private void claimBlock() throws IOException {
        int blocks = (END - FIRST) / BLOCK;
        int start = random.nextInt(blocks);
        for (int i = 0; i < blocks; i++) {
            int base = FIRST + (start + i) % blocks * BLOCK;
            try {
                guards.add(bind(base));
            } catch (IOException e) {
                continue;
            }
            for (int port = base + 1; port < base + BLOCK; port++) {
                free.add(port);
            }
            return;
        }
        throw new IOException("no free block of ports between " + FIRST + " and " + END);
    }

    private static ServerSocket bind(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            // As ZooKeeper binds: connections of a former server that linger in TIME_WAIT do not count as use.
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 1);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }
}
