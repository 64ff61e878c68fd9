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
        FROZEN
    }

    Mode mode = Mode.PASSING;
    long delayNanos = 0;
}
