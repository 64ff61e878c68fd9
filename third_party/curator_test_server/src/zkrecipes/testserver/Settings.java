// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

/** What one server or ensemble is started with. Times are in milliseconds. */
final class Settings {
    int servers = 1;
    int tickTime = 200;
    /** 0: twice the tick time, the smallest that ZooKeeper recommends. */
    int minSessionTimeout = 0;
    int maxSessionTimeout = 60_000;
    /** 0: ZooKeeper's own interval of one minute. */
    int containerCheckInterval = 0;
    String host = "127.0.0.1";
    /** 0: free ports; else the members listen on firstPort, firstPort + 1, ... */
    int firstPort = 0;
    boolean keepData = false;

    void check() {
        require(servers >= 1 && servers <= 9, "servers must be between 1 and 9");
        require(tickTime >= 10, "the tick time must be at least 10 ms");
        require(minSessionTimeout >= 0 && maxSessionTimeout > 0, "session timeouts must not be negative");
        require(effectiveMinSessionTimeout() <= maxSessionTimeout,
                "the smallest session timeout (" + effectiveMinSessionTimeout() + " ms) is above the largest ("
                        + maxSessionTimeout + " ms)");
        require(containerCheckInterval >= 0, "the container check interval must not be negative");
        require(firstPort >= 0 && firstPort + servers - 1 <= 65_535, "the port must be between 1 and 65535");
    }

    int effectiveMinSessionTimeout() {
        return minSessionTimeout > 0 ? minSessionTimeout : 2 * tickTime;
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
