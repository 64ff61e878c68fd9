// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.util.ServiceUtils;

/**
 * One server (Curator's TestingServer) or several (TestingCluster), with the same verbs for both. Members are counted
 * from 0. Used by one thread; only the container check runs on a thread of its own.
 */
final class Ensemble {
    private static final long PATIENCE_MS = 25_000;

    private final Settings settings;
    private final Path directory;
    private final Ports ports;
    private final List<Integer> takenPorts = new ArrayList<>();
    private final List<InstanceSpec> specs = new ArrayList<>();
    private final List<TestingZooKeeperServer> members = new ArrayList<>();
    private final Closeable curator;
    private final Timer containerTimer;
    /** Written by the thread that gives commands, read by the container check, where an old value does no harm. */
    private final boolean[] started;

    Ensemble(Settings settings, Path directory, Ports ports) throws Exception {
        this.settings = settings;
        this.directory = directory;
        this.ports = ports;
        this.started = new boolean[settings.servers];
        for (int member = 0; member < settings.servers; member++) {
            specs.add(spec(member));
        }
        if (settings.servers == 1) {
            TestingServer server = new TestingServer(specs.get(0), false);
            members.add(Internals.zooKeeperOf(server));
            curator = server;
        } else {
            TestingCluster cluster = new TestingCluster(specs);
            for (InstanceSpec spec : specs) {
                members.add(cluster.getServers().stream()
                        .filter(server -> server.getInstanceSpec().equals(spec))
                        .findFirst()
                        .orElseThrow());
            }
            curator = cluster;
        }
        containerTimer = settings.containerCheckInterval > 0 ? startContainerChecks() : null;
    }

    void start() throws Exception {
        for (int member = 0; member < members.size(); member++) {
            requireFreePorts(member);
            members.get(member).start();
            started[member] = true;
        }
        // Curator asks for "end the process" when a server ends by itself; here others live in the same process.
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        for (int member = 0; member < members.size(); member++) {
            awaitServing(member);
        }
    }

    int size() {
        return members.size();
    }

    List<String> addresses() {
        return specs.stream().map(InstanceSpec::getConnectString).collect(Collectors.toList());
    }

    void stop(int member) throws Exception {
        if (started[member]) {
            Thread runner = Internals.runnerOf(members.get(member));
            started[member] = false;
            members.get(member).stop();
            awaitEnd(member, runner);
        }
    }

    void kill(int member) throws Exception {
        if (started[member]) {
            Thread runner = Internals.runnerOf(members.get(member));
            ServerCnxnFactory factory = Internals.factoryOf(members.get(member));
            started[member] = false;
            if (factory != null) {
                Internals.resetClients(factory);
            }
            members.get(member).kill();
            awaitEnd(member, runner);
        }
    }

    /** Stops them if they run and starts them with the same data on the same ports; serving, if they have a quorum. */
    void restart(List<Integer> which) throws Exception {
        for (int member : which) {
            stop(member);
        }
        for (int member : which) {
            requireFreePorts(member);
            members.get(member).restart();
            started[member] = true;
        }
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        if (hasQuorum()) {
            for (int member : which) {
                awaitServing(member);
            }
        }
    }

    int awaitLeader() throws InterruptedException {
        if (!hasQuorum()) {
            throw new IllegalStateException("too few members are running for a leader");
        }
        int[] leader = {-1};
        await("a leader", () -> {
            leader[0] = findLeader();
            return leader[0] >= 0;
        });
        return leader[0];
    }

    /** Does what the server does when the session times out, and returns when every member that runs has seen it. */
    void expire(long session) throws InterruptedException {
        ZooKeeperServer leader = Internals.activeServerOf(members.get(awaitLeader()));
        if (leader == null || !leader.getZKDatabase().getSessionWithTimeOuts().containsKey(session)) {
            throw new IllegalArgumentException("there is no session 0x" + Long.toHexString(session));
        }
        leader.getSessionTracker().setSessionClosing(session);
        leader.expire(session);
        await("the end of session 0x" + Long.toHexString(session), () -> !isKnown(session));
    }

    Info info(List<Integer> which) {
        Info info = new Info();
        for (int member : which) {
            ZooKeeperServer server = servingOf(member);
            if (server != null) {
                info.add(server);
            }
        }
        return info;
    }

    void close() throws Exception {
        if (containerTimer != null) {
            containerTimer.cancel();
        }
        for (int member = 0; member < members.size(); member++) {
            stop(member);
        }
        curator.close();
        ports.giveBack(takenPorts);
        if (!settings.keepData) {
            DataRoot.removeTree(directory);
        }
    }

    private InstanceSpec spec(int member) throws IOException {
        // ZooKeeper writes its generated configuration next to the data directory.
        Path data = directory.resolve("member-" + member).resolve("data");
        Files.createDirectories(data);
        Map<String, Object> properties = new HashMap<>();
        properties.put("clientPortAddress", settings.host);
        properties.put("minSessionTimeout", Integer.toString(settings.effectiveMinSessionTimeout()));
        properties.put("maxSessionTimeout", Integer.toString(settings.maxSessionTimeout));
        // Counted in ticks. Short ticks are meant for short sessions, not for members that give each other up whenever
        // a busy machine lets them wait.
        properties.put("initLimit", Integer.toString(Math.max(10, 10_000 / settings.tickTime)));
        properties.put("syncLimit", Integer.toString(Math.max(5, 5_000 / settings.tickTime)));
        int port = settings.firstPort > 0 ? settings.firstPort + member : takePort();
        boolean alone = settings.servers == 1;
        int electionPort = alone ? 0 : takePort();
        int quorumPort = alone ? 0 : takePort();
        int unlimited = 0;
        return new InstanceSpec(data.toFile(), port, electionPort, quorumPort, false, member + 1, settings.tickTime,
                unlimited, properties, settings.host);
    }

    private int takePort() throws IOException {
        int port = ports.take();
        takenPorts.add(port);
        return port;
    }

    /** A server whose port is taken does not report it; its start would just not return for a long time. */
    private void requireFreePorts(int member) throws InterruptedException {
        InstanceSpec spec = specs.get(member);
        int[] needed = members.size() == 1
                ? new int[] {spec.getPort()}
                : new int[] {spec.getPort(), spec.getElectionPort(), spec.getQuorumPort()};
        for (int port : needed) {
            long end = System.nanoTime() + 5_000_000_000L;
            while (!Ports.isFree(port)) {
                if (System.nanoTime() > end) {
                    throw new IllegalStateException("port " + port + " is in use");
                }
                Thread.sleep(5);
            }
        }
    }

    private Timer startContainerChecks() {
        Timer timer = new Timer("container-check", true);
        // ZooKeeper reads its own interval from a property of the whole process, which servers here do not share.
        timer.schedule(
                new TimerTask() {
                    @Override
                    public void run() {
                        try {
                            checkContainers();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                        } catch (RuntimeException e) {
                            // A server that stops or changes its role in between: next time.
                        }
                    }
                },
                settings.containerCheckInterval,
                settings.containerCheckInterval);
        return timer;
    }

    private void checkContainers() throws InterruptedException {
        int leader = findLeader();
        if (leader >= 0) {
            ContainerManager manager = Internals.containerManagerOf(members.get(leader));
            if (manager != null) {
                manager.checkContainers();
            }
        }
    }

    private boolean hasQuorum() {
        int count = 0;
        for (boolean each : started) {
            count += each ? 1 : 0;
        }
        return count > members.size() / 2;
    }

    private int findLeader() {
        for (int member = 0; member < members.size(); member++) {
            if (servingOf(member) == null) {
                continue;
            }
            QuorumPeer peer = Internals.peerOf(members.get(member));
            if (members.size() == 1 || (peer != null && peer.getPeerState() == QuorumPeer.ServerState.LEADING)) {
                return member;
            }
        }
        return -1;
    }

    /** Null unless clients of this member are served. */
    private ZooKeeperServer servingOf(int member) {
        if (!started[member]) {
            return null;
        }
        ZooKeeperServer server = Internals.activeServerOf(members.get(member));
        boolean serves = server != null
                && server.isRunning()
                && server.getServerCnxnFactory() != null
                && server.getServerCnxnFactory().getZooKeeperServer() == server;
        return serves ? server : null;
    }

    private boolean isKnown(long session) {
        for (int member = 0; member < members.size(); member++) {
            ZooKeeperServer server = servingOf(member);
            if (server == null) {
                continue;
            }
            if (server.getZKDatabase().getSessionWithTimeOuts().containsKey(session)
                    || !server.getZKDatabase().getEphemerals(session).isEmpty()) {
                return true;
            }
            for (ServerCnxn connection : server.getServerCnxnFactory().getConnections()) {
                if (connection.getSessionId() == session) {
                    return true;
                }
            }
        }
        return false;
    }

    private void awaitServing(int member) throws InterruptedException {
        await("member " + member + " to serve", () -> servingOf(member) != null);
    }

    private void awaitEnd(int member, Thread runner) throws InterruptedException {
        if (runner != null) {
            runner.join(PATIENCE_MS);
            if (runner.isAlive()) {
                throw new IllegalStateException("member " + member + " does not end");
            }
        }
    }

    private static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE_MS * 1_000_000;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("waited in vain for " + what);
            }
            Thread.sleep(2);
        }
    }
}
