// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

/** What happens now to everything that passes between two members, in both directions. Used by the relay's thread. */
final class Link {
    enum Mode {
        /** Everything passes, after the delay. */
        PASSING,
        /** Connections are reset, new ones at once. */
        CUT,
        /** Connections stay open and nothing passes, neither data nor the end of a connection. */
        FROZEN,
        /** One member sees what it would see of a frozen link, the other one what it would see of a cut one. */
        STRANDED
    }

    Mode mode = Mode.PASSING;
    /** The member that does not notice that the link is stranded. */
    int stranded = -1;
    long delayNanos = 0;
}
