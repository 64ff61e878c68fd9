// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.Closeable;
import java.io.IOException;

/**
 * The links between the members of an ensemble. A member knows every other one under ports of the relay that are for
 * this pair and this direction only, so each link can have a fate of its own.
 */
final class Links implements Closeable {
    private final int members;
    private final Relay relay = new Relay();
    /** By the smaller and the larger member; entries with equal ones are not used. */
    private final Link[][] links;
    private final int[][] quorumPorts;
    private final int[][] electionPorts;

    Links(int members) throws IOException {
        this.members = members;
        links = new Link[members][members];
        quorumPorts = new int[members][members];
        electionPorts = new int[members][members];
        for (Link[] row : links) {
            for (int i = 0; i < row.length; i++) {
                row[i] = new Link();
            }
        }
    }

    /** From then on `from` can reach `to` on the two ports given, and `to` listens on the two others. */
    void connect(int from, int to, int quorumPort, int electionPort, int realQuorumPort, int realElectionPort)
            throws IOException {
        quorumPorts[from][to] = quorumPort;
        electionPorts[from][to] = electionPort;
        relay.open(between(from, to), from, quorumPort, realQuorumPort, false);
        relay.open(between(from, to), from, electionPort, realElectionPort, true);
    }

    int quorumPort(int from, int to) {
        return quorumPorts[from][to];
    }

    int electionPort(int from, int to) {
        return electionPorts[from][to];
    }

    /** With all others, if the other one is negative. The first member is the one that a stranded link strands. */
    void set(int member, int other, Link.Mode mode, int delayMs) {
        if (member < 0 || member >= members || other >= members || member == other) {
            throw new IllegalArgumentException("there is no link between members " + member + " and " + other);
        }
        if (delayMs < 0) {
            throw new IllegalArgumentException("a delay must not be negative");
        }
        for (int each = 0; each < members; each++) {
            if (each != member && (other < 0 || each == other)) {
                relay.set(between(member, each), mode, member, delayMs);
            }
        }
    }

    void healAll() {
        for (int a = 0; a < members; a++) {
            for (int b = a + 1; b < members; b++) {
                set(a, b, Link.Mode.PASSING, 0);
            }
        }
    }

    boolean passes(int a, int b) {
        return a == b || relay.modeOf(between(a, b)) == Link.Mode.PASSING;
    }

    @Override
    public void close() {
        relay.close();
    }

    private Link between(int a, int b) {
        return links[Math.min(a, b)][Math.max(a, b)];
    }
}
