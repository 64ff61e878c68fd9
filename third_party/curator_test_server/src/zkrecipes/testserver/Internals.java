// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Collections;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.curator.test.TestingServer;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.quorum.Leader;
import org.apache.zookeeper.server.quorum.QuorumPeer;

/**
 * Reaches the ZooKeeper server inside Curator's classes, which keep it private. All reflection of this program is here;
 * it fits Curator 5.4 with ZooKeeper 3.8.
 */
final class Internals {
    private Internals() {}

    static TestingZooKeeperServer zooKeeperOf(TestingServer server) {
        return (TestingZooKeeperServer) call(server, "getTestingZooKeeperServer");
    }

    /** The thread that a started server ends with; it outlives the return of stop(). */
    static Thread runnerOf(TestingZooKeeperServer server) {
        return (Thread) field(embedded(server), "thread");
    }

    /** Null for a server that is not a member of an ensemble. */
    static QuorumPeer peerOf(TestingZooKeeperServer server) {
        Object main = field(embedded(server), "maincluster");
        return main == null ? null : (QuorumPeer) field(main, "quorumPeer");
    }

    /** Null while the server is not serving, as during an election. */
    static ZooKeeperServer activeServerOf(TestingZooKeeperServer server) {
        QuorumPeer peer = peerOf(server);
        if (peer != null) {
            return peer.getActiveServer();
        }
        ServerCnxnFactory factory = factoryOf(server);
        return factory == null ? null : factory.getZooKeeperServer();
    }

    static ServerCnxnFactory factoryOf(TestingZooKeeperServer server) {
        QuorumPeer peer = peerOf(server);
        if (peer != null) {
            return (ServerCnxnFactory) field(peer, "cnxnFactory");
        }
        Object main = field(embedded(server), "mainsingle");
        return main == null ? null : (ServerCnxnFactory) field(main, "cnxnFactory");
    }

    /** The server ids of those to whom a leader sends every change; empty for others. */
    static Set<Long> followersOf(QuorumPeer peer) {
        Leader leader = peer.leader;
        return leader == null
                ? Collections.emptySet()
                : leader.getForwardingFollowers().stream()
                        .map(handler -> (Long) field(handler, "sid"))
                        .collect(Collectors.toSet());
    }

    /** Null on followers. */
    static ContainerManager containerManagerOf(TestingZooKeeperServer server) {
        Object main = field(embedded(server), "mainsingle");
        Object owner = main != null ? main : activeServerOf(server);
        return owner != null && hasField(owner, "containerManager")
                ? (ContainerManager) field(owner, "containerManager")
                : null;
    }

    /** Nobody new gets in, and everybody inside sees a reset, as when the machine dies; replies under way are lost. */
    static void resetClients(ServerCnxnFactory factory) throws IOException {
        ((ServerSocketChannel) field(factory, "ss")).close();
        for (ServerCnxn connection : factory.getConnections()) {
            SocketChannel socket = (SocketChannel) field(connection, "sock");
            try {
                socket.setOption(StandardSocketOptions.SO_LINGER, 0);
                socket.close();
            } catch (IOException e) {
                // The client was faster.
            }
        }
    }

    private static Object embedded(TestingZooKeeperServer server) {
        return field(call(server, "getMain"), "zooKeeperEmbedded");
    }

    private static Object call(Object target, String name) {
        try {
            Method method = target.getClass().getDeclaredMethod(name);
            method.setAccessible(true);
            return method.invoke(target);
        } catch (ReflectiveOperationException e) {
            throw unsupported(target, name, e);
        }
    }

    private static Object field(Object target, String name) {
        try {
            Field field = find(target, name);
            if (field == null) {
                throw new NoSuchFieldException(name);
            }
            field.setAccessible(true);
            return field.get(target);
        } catch (ReflectiveOperationException e) {
            throw unsupported(target, name, e);
        }
    }

    private static boolean hasField(Object target, String name) {
        return find(target, name) != null;
    }

    private static Field find(Object target, String name) {
        for (Class<?> type = target.getClass(); type != null; type = type.getSuperclass()) {
            try {
                return type.getDeclaredField(name);
            } catch (NoSuchFieldException e) {
                // Look in the class above.
            }
        }
        return null;
    }

    private static IllegalStateException unsupported(Object target, String name, Exception cause) {
        return new IllegalStateException(
                "this version of Curator or ZooKeeper has no " + target.getClass().getName() + "." + name, cause);
    }
}
