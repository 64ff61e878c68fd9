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
import java.util.Set;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.QuorumConfigBuilder;
import org.apache.curator.test.TestingServer;
import org.apache.curator.test.TestingZooKeeperServer;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.util.ServiceUtils;

/**
 * One server (Curator's TestingServer) or several, with the same verbs for both. Members are counted from 0. Used by one thread; only the container check runs on a thread of its own.
 */
final class Ensemble {
    private static final long PATIENCE_MS = 25_000;

    private final Settings settings;
    private final Path directory;
    private final Ports ports;
    private final List<Integer> takenPorts = new ArrayList<>();
    private final List<InstanceSpec> specs = new ArrayList<>();
    private final List<TestingZooKeeperServer> members = new ArrayList<>();
    private final List<Closeable> closeables = new ArrayList<>();
    /** Null if the members are connected without a relay. */
    private final Links links;
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
        links = settings.links ? connectByLinks() : null;
        if (settings.servers == 1) {
            TestingServer server = new TestingServer(specs.get(0), false);
            members.add(Internals.zooKeeperOf(server));
            closeables.add(server);
        } else {
            for (int member = 0; member < settings.servers; member++) {
                members.add(new TestingZooKeeperServer(new QuorumConfigBuilder(specsAsSeenBy(member)), member));
            }
            closeables.addAll(members);
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

    /** Waits for a leader other than this member; a negative number excludes nobody. */
    int awaitLeader(int except) throws InterruptedException {
        if (!hasQuorum()) {
            throw new IllegalStateException("too few members are running for a leader");
        }
        int[] leader = {-1};
        await("a leader", () -> {
            leader[0] = findLeader();
            return leader[0] >= 0 && leader[0] != except;
        });
        return leader[0];
    }

    /** Does what the server does when the session times out, and returns when every member that can has seen it. */
    void expire(long session) throws InterruptedException {
        int leading = awaitLeader(-1);
        ZooKeeperServer leader = Internals.activeServerOf(members.get(leading));
        if (leader == null || !leader.getZKDatabase().getSessionWithTimeOuts().containsKey(session)) {
            throw new IllegalArgumentException("there is no session 0x" + Long.toHexString(session));
        }
        leader.getSessionTracker().setSessionClosing(session);
        leader.expire(session);
        await("the end of session 0x" + Long.toHexString(session), () -> !isKnown(session, leading));
    }

    /** With all others, if the other one is negative. */
    void setLink(int member, int other, Link.Mode mode, int delayMs) {
        if (member == other) {
            throw new IllegalArgumentException("a member has no link with itself");
        }
        if (delayMs < 0) {
            throw new IllegalArgumentException("a delay must not be negative");
        }
        if (other < 0) {
            linksOrThrow().setAllOf(member, mode, delayMs);
        } else {
            linksOrThrow().set(member, other, mode, delayMs);
        }
    }

    /** All links pass again; on return every started member serves under one leader, if there is a quorum. */
    void heal() throws InterruptedException {
        linksOrThrow().healAll();
        if (hasQuorum()) {
            await("all members under one leader", this::isUnited);
        }
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
        for (Closeable each : closeables) {
            each.close();
        }
        if (links != null) {
            links.close();
        }
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
        properties.put("minSessionTimeout", Integer.toString(settings.minSessionTimeout(member)));
        properties.put("maxSessionTimeout", Integer.toString(settings.maxSessionTimeout(member)));
        properties.put("initLimit", Integer.toString(settings.initLimit(member)));
        properties.put("syncLimit", Integer.toString(settings.syncLimit(member)));
        int port = settings.firstPort > 0 ? settings.firstPort + member : takePort();
        boolean alone = settings.servers == 1;
        int electionPort = alone ? 0 : takePort();
        int quorumPort = alone ? 0 : takePort();
        int unlimited = 0;
        return new InstanceSpec(data.toFile(), port, electionPort, quorumPort, false, member + 1,
                settings.tickTime(member), unlimited, properties, settings.host);
    }

    private Links connectByLinks() throws IOException {
        Links result = new Links(settings.servers);
        for (int from = 0; from < settings.servers; from++) {
            for (int to = 0; to < settings.servers; to++) {
                if (from != to) {
                    InstanceSpec target = specs.get(to);
                    result.connect(
                            from, to, takePort(), takePort(), target.getQuorumPort(), target.getElectionPort());
                }
            }
        }
        return result;
    }

    /** Its own ports as they are, those of the others as they are at its end of the links. */
    private List<InstanceSpec> specsAsSeenBy(int member) {
        if (links == null) {
            return specs;
        }
        List<InstanceSpec> seen = new ArrayList<>();
        for (int other = 0; other < specs.size(); other++) {
            InstanceSpec spec = specs.get(other);
            seen.add(other == member
                    ? spec
                    : new InstanceSpec(spec.getDataDirectory(), spec.getPort(), links.electionPort(member, other),
                            links.quorumPort(member, other), false, spec.getServerId(), spec.getTickTime(),
                            spec.getMaxClientCnxns(), spec.getCustomProperties(), spec.getHostname()));
        }
        return seen;
    }

    private Links linksOrThrow() {
        if (links == null) {
            throw new IllegalStateException("these servers were started without links=1");
        }
        return links;
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

    /** A leader that was cut off may go on for a while beside the next one, so the latest counts. */
    private int findLeader() {
        int leader = -1;
        long latest = -1;
        for (int member = 0; member < members.size(); member++) {
            ZooKeeperServer server = servingOf(member);
            if (server == null) {
                continue;
            }
            QuorumPeer peer = Internals.peerOf(members.get(member));
            long epoch = server.getZxid() >>> 32;
            boolean leads = members.size() == 1
                    || (peer != null && peer.getPeerState() == QuorumPeer.ServerState.LEADING);
            if (leads && epoch > latest) {
                leader = member;
                latest = epoch;
            }
        }
        return leader;
    }

    /** Every started member serves, and all but one follow that one. */
    private boolean isUnited() {
        int leading = findLeader();
        if (leading < 0) {
            return false;
        }
        Set<Long> followers = Internals.followersOf(Internals.peerOf(members.get(leading)));
        for (int member = 0; member < members.size(); member++) {
            if (!started[member] || member == leading) {
                continue;
            }
            boolean follows = servingOf(member) != null
                    && Internals.peerOf(members.get(member)).getPeerState() == QuorumPeer.ServerState.FOLLOWING
                    && followers.contains((long) specs.get(member).getServerId());
            if (!follows) {
                return false;
            }
        }
        return true;
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

    private boolean isKnown(long session, int leader) {
        for (int member = 0; member < members.size(); member++) {
            ZooKeeperServer server = servingOf(member);
            if (server == null || (links != null && !links.passes(leader, member))) {
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
                throw new IllegalStateException("waited too long for " + what);
            }
            Thread.sleep(2);
        }
    }
}
