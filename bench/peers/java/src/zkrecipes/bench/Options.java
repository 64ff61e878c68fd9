// SPDX-License-Identifier: Apache-2.0
package zkrecipes.bench;

/** The command line that all peers' drivers share, and which peer this one is to drive. */
final class Options {
    static final String USAGE = String.join("\n",
            "usage: java_driver --peer curator|apache --server HOST:PORT --workload NAME [options]",
            "",
            "  --cycles N      per run (1000)",
            "  --warmup N      cycles before the first run (0)",
            "  --contenders N  threads or connections, where there are several (8)",
            "  --root PATH     below it are the lock paths (/bench/<peer>)",
            "",
            "Commands on standard input: prepare, run.");

    String peer = "curator";
    String server;
    String workload;
    String root;
    int cycles = 1000;
    int warmup = 0;
    int contenders = 8;

    static Options parse(String[] arguments) {
        Options options = new Options();
        for (int i = 0; i < arguments.length; i += 2) {
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException(arguments[i] + " needs a value");
            }
            options.set(arguments[i], arguments[i + 1]);
        }
        if (options.server == null || options.workload == null) {
            throw new IllegalArgumentException("--server and --workload are needed");
        }
        if (options.root == null) {
            options.root = "/bench/" + options.peer;
        }
        return options;
    }

    private void set(String name, String value) {
        switch (name) {
            case "--peer":
                peer = value;
                break;
            case "--server":
                server = value;
                break;
            case "--workload":
                workload = value;
                break;
            case "--root":
                root = value;
                break;
            case "--cycles":
                cycles = Integer.parseInt(value);
                break;
            case "--warmup":
                warmup = Integer.parseInt(value);
                break;
            case "--contenders":
                contenders = Integer.parseInt(value);
                break;
            default:
                throw new IllegalArgumentException("unknown option: " + name);
        }
    }

    String path() {
        return root + "/" + workload;
    }
}
