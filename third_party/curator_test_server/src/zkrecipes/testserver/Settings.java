// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

/** What one server or ensemble is started with. Times are in milliseconds. */
final class Settings {
    int servers = 1;
    /** These have one value for all members, or one for each. */
    int[] tickTimes = {200};
    /** 0: twice the tick time, the smallest that ZooKeeper recommends. */
    int[] minSessionTimeouts = {0};
    int[] maxSessionTimeouts = {60_000};
    /** In ticks. 0: ten seconds, but not less than ten ticks. */
    int initLimit = 0;
    /** In ticks. 0: five seconds, but not less than five ticks. */
    int syncLimit = 0;
    /** The links between members pass a relay and can be cut. */
    boolean links = false;
    /** The only member that runs here; negative: all. */
    int member = -1;
    /** Client, quorum and election port of each member, as this one is to see them; null: they are chosen here. */
    int[] ports = null;
    /** Where the data of all members is; null: chosen here. */
    String directory = null;
    /** 0: ZooKeeper's own interval of one minute. */
    int containerCheckInterval = 0;
    String host = "127.0.0.1";
    /** 0: free ports; else the members listen on firstPort, firstPort + 1, ... */
    int firstPort = 0;
    boolean keepData = false;

    void check() {
        require(servers >= 1 && servers <= 9, "servers must be between 1 and 9");
        for (int[] list : new int[][] {tickTimes, minSessionTimeouts, maxSessionTimeouts}) {
            require(list.length == 1 || list.length == servers, "a list needs one value for each member");
        }
        for (int member = 0; member < servers; member++) {
            int min = minSessionTimeout(member);
            int max = maxSessionTimeout(member);
            require(tickTime(member) >= 10, "the tick time must be at least 10 ms");
            require(min >= 0 && max > 0, "session timeouts must not be negative");
            require(min <= max,
                    "the smallest session timeout (" + min + " ms) is above the largest (" + max + " ms)");
        }
        require(initLimit >= 0 && syncLimit >= 0, "limits must not be negative");
        require(!links || servers > 1, "a single server has no links");
        require(member < servers, "there is no such member");
        require(member < 0 || ports != null, "a member that runs alone needs ports");
        require(ports == null || ports.length == 3 * servers, "each member needs three ports");
        require(containerCheckInterval >= 0, "the container check interval must not be negative");
        require(firstPort >= 0 && firstPort + servers - 1 <= 65_535, "the port must be between 1 and 65535");
    }

    int tickTime(int member) {
        return of(tickTimes, member);
    }

    int minSessionTimeout(int member) {
        int min = of(minSessionTimeouts, member);
        return min > 0 ? min : 2 * tickTime(member);
    }

    int maxSessionTimeout(int member) {
        return of(maxSessionTimeouts, member);
    }

    // Short ticks are meant for short sessions, not for members that give each other up whenever a busy machine lets
    // them wait.
    int initLimit(int member) {
        return initLimit > 0 ? initLimit : Math.max(10, 10_000 / tickTime(member));
    }

    int syncLimit(int member) {
        return syncLimit > 0 ? syncLimit : Math.max(5, 5_000 / tickTime(member));
    }

    private static int of(int[] list, int member) {
        return list.length == 1 ? list[0] : list[member];
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
