// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The ports of all members of an ensemble, and the links between them. */
final class Layout implements Closeable {
    private final Settings settings;
    private final Ports ports;
    private final List<Integer> taken = new ArrayList<>();
    private final int[] clientPorts;
    private final int[] quorumPorts;
    private final int[] electionPorts;
    /** Null if the members are connected without a relay. */
    private final Links links;

    Layout(Settings settings, Ports ports) throws IOException {
        this.settings = settings;
        this.ports = ports;
        int servers = settings.servers;
        clientPorts = new int[servers];
        quorumPorts = new int[servers];
        electionPorts = new int[servers];
        for (int member = 0; member < servers; member++) {
            if (settings.ports != null) {
                clientPorts[member] = settings.ports[3 * member];
                quorumPorts[member] = settings.ports[3 * member + 1];
                electionPorts[member] = settings.ports[3 * member + 2];
                continue;
            }
            clientPorts[member] = settings.firstPort > 0 ? settings.firstPort + member : take();
            quorumPorts[member] = servers == 1 ? 0 : take();
            electionPorts[member] = servers == 1 ? 0 : take();
        }
        links = settings.links ? connect() : null;
    }

    List<String> addresses() {
        return Arrays.stream(clientPorts).mapToObj(port -> settings.host + ":" + port).collect(Collectors.toList());
    }

    int clientPort(int member) {
        return clientPorts[member];
    }

    /** Its own port as it is, that of another one as it is at this end of their link. */
    int quorumPort(int seenBy, int member) {
        return links == null || seenBy == member ? quorumPorts[member] : links.quorumPort(seenBy, member);
    }

    int electionPort(int seenBy, int member) {
        return links == null || seenBy == member ? electionPorts[member] : links.electionPort(seenBy, member);
    }

    /** What Settings.ports is for a member that runs elsewhere. */
    String portsSeenBy(int member) {
        List<String> list = new ArrayList<>();
        for (int other = 0; other < settings.servers; other++) {
            list.add(clientPorts[other] + "," + quorumPort(member, other) + "," + electionPort(member, other));
        }
        return String.join(",", list);
    }

    /** Throws if there are none. */
    Links links() {
        if (links == null) {
            throw new IllegalStateException("these servers were started without links=1");
        }
        return links;
    }

    boolean passes(int a, int b) {
        return links == null || links.passes(a, b);
    }

    @Override
    public void close() {
        if (links != null) {
            links.close();
        }
        ports.giveBack(taken);
    }

    private Links connect() throws IOException {
        Links result = new Links(settings.servers);
        for (int from = 0; from < settings.servers; from++) {
            for (int to = 0; to < settings.servers; to++) {
                if (from != to) {
                    result.connect(from, to, take(), take(), quorumPorts[to], electionPorts[to]);
                }
            }
        }
        return result;
    }

    private int take() throws IOException {
        int port = ports.take();
        taken.add(port);
        return port;
    }
}
