// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.ZooKeeperServer;

/** Numbers of one member, or of all: what is counted per member adds up, what is replicated is the largest seen. */
final class Info {
    private int running;
    private long watches;
    private long connections;
    private long packetsReceived;
    private long packetsSent;
    private long outstanding;
    private long sessions;
    private long nodes;
    private long ephemerals;

    void add(ZooKeeperServer server) {
        DataTree tree = server.getZKDatabase().getDataTree();
        running++;
        watches += tree.getWatchCount();
        connections += server.getNumAliveConnections();
        packetsReceived += server.serverStats().getPacketsReceived();
        packetsSent += server.serverStats().getPacketsSent();
        outstanding += server.getOutstandingRequests();
        sessions = Math.max(sessions, server.getZKDatabase().getSessionWithTimeOuts().size());
        nodes = Math.max(nodes, tree.getNodeCount());
        ephemerals = Math.max(ephemerals, tree.getEphemeralsCount());
    }

    @Override
    public String toString() {
        return "running=" + running + " watches=" + watches + " connections=" + connections + " packets-received="
                + packetsReceived + " packets-sent=" + packetsSent + " outstanding=" + outstanding + " sessions="
                + sessions + " nodes=" + nodes + " ephemerals=" + ephemerals;
    }
}
