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
 * One server (Curator's TestingServer) or several, with the same verbs for both. Members are counted from 0. Used by one
 * thread; only the container check runs on a thread of its own.
 */
final class Ensemble {
    private static final long PATIENCE_MS = 25_000;

    private final Settings settings;
    private final Path directory;
    private final Layout layout;
    private final List<InstanceSpec> specs = new ArrayList<>();
    /** Null for members that run in another process; they are never started here. */
    private final List<TestingZooKeeperServer> members = new ArrayList<>();
    private final List<Closeable> closeables = new ArrayList<>();
    private final Timer containerTimer;
    /** Written by the thread that gives commands, read by the container check, where an old value does no harm. */
    private final boolean[] started;

    Ensemble(Settings settings, Path directory, Ports ports) throws Exception {
        this.settings = settings;
        this.directory = directory;
        this.started = new boolean[settings.servers];
        this.layout = new Layout(settings, ports);
        for (int member = 0; member < settings.servers; member++) {
            specs.add(spec(member, member));
        }
        if (settings.servers == 1) {
            TestingServer server = new TestingServer(specs.get(0), false);
            members.add(Internals.zooKeeperOf(server));
            closeables.add(server);
        } else {
            for (int member = 0; member < settings.servers; member++) {
                members.add(runsHere(member) ? member(member) : null);
            }
        }
        containerTimer = settings.containerCheckInterval > 0 ? startContainerChecks() : null;
    }

    /** On return all serve, unless some run in other processes. */
    void start() throws Exception {
        for (int member = 0; member < members.size(); member++) {
            if (!runsHere(member)) {
                continue;
            }
            requireFreePorts(member);
            members.get(member).start();
            started[member] = true;
        }
        // Curator asks for "end the process" when a server ends by itself; here others live in the same process.
        ServiceUtils.setSystemExitProcedure(ServiceUtils.LOG_ONLY);
        if (hasQuorum()) {
            for (int member = 0; member < members.size(); member++) {
                awaitServing(member);
            }
        }
    }

    int size() {
        return members.size();
    }

    List<String> addresses() {
        return layout.addresses();
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

    /** Stops them if they run and starts them with the same data on the same ports; serving, if they reach a quorum. */
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
        for (int member : which) {
            if (reachesQuorum(member)) {
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
        int leading = settings.member < 0 ? awaitLeader(-1) : findLeader();
        ZooKeeperServer leader = leading < 0 ? null : Internals.activeServerOf(members.get(leading));
        if (leader == null || !leader.getZKDatabase().getSessionWithTimeOuts().containsKey(session)) {
            throw new IllegalArgumentException("there is no session 0x" + Long.toHexString(session));
        }
        leader.getSessionTracker().setSessionClosing(session);
        leader.expire(session);
        await("the end of session 0x" + Long.toHexString(session), () -> !isKnown(session, leading));
    }

    Layout layout() {
        return layout;
    }

    /** "leading" with epoch and number of followers, "following", or "none" if it does not serve. */
    String role(int member) {
        ZooKeeperServer server = servingOf(member);
        if (server == null) {
            return "none";
        }
        QuorumPeer peer = Internals.peerOf(members.get(member));
        return members.size() > 1 && peer.getPeerState() != QuorumPeer.ServerState.LEADING
                ? "following"
                : "leading " + (server.getZxid() >>> 32) + " "
                        + (members.size() > 1 ? Internals.followersOf(peer).size() : 0);
    }

    /** All links pass again; on return every started member serves under one leader, if there is a quorum. */
    void heal() throws InterruptedException {
        layout.links().healAll();
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
        layout.close();
        if (!settings.keepData && settings.directory == null) {
            DataRoot.removeTree(directory);
        }
    }

    private boolean runsHere(int member) {
        return settings.member < 0 || settings.member == member;
    }

    private TestingZooKeeperServer member(int member) throws IOException {
        List<InstanceSpec> seen = new ArrayList<>();
        for (int other = 0; other < settings.servers; other++) {
            seen.add(spec(member, other));
        }
        TestingZooKeeperServer server = new TestingZooKeeperServer(new QuorumConfigBuilder(seen), member);
        closeables.add(server);
        return server;
    }

    private InstanceSpec spec(int seenBy, int member) throws IOException {
        // ZooKeeper writes its generated configuration next to the data directory.
        Path data = directory.resolve("member-" + member).resolve("data");
        Files.createDirectories(data);
        Map<String, Object> properties = new HashMap<>();
        properties.put("clientPortAddress", settings.host);
        properties.put("minSessionTimeout", Integer.toString(settings.minSessionTimeout(member)));
        properties.put("maxSessionTimeout", Integer.toString(settings.maxSessionTimeout(member)));
        properties.put("initLimit", Integer.toString(settings.initLimit(member)));
        properties.put("syncLimit", Integer.toString(settings.syncLimit(member)));
        int unlimited = 0;
        return new InstanceSpec(data.toFile(), layout.clientPort(member), layout.electionPort(seenBy, member),
                layout.quorumPort(seenBy, member), false, member + 1, settings.tickTime(member), unlimited, properties,
                settings.host);
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

    private boolean reachesQuorum(int member) {
        int count = 0;
        for (int other = 0; other < members.size(); other++) {
            count += started[other] && layout.passes(member, other) ? 1 : 0;
        }
        return count > members.size() / 2;
    }

    /** False if that is not known here. */
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
            if (server == null || !layout.passes(leader, member)) {
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
