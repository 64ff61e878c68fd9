// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.jmx.MBeanRegistry;
import org.apache.zookeeper.jmx.ZKMBeanInfo;

/** Entry point: a controller on standard input for tests, or with --serve a server for people. */
public final class Main {
    private static final String USAGE = String.join("\n",
            "Usage: curator_test_server [--jute-max-buffer BYTES] [--on-disk DIR]",
            "       curator_test_server --serve [options]",
            "",
            "A ZooKeeper server or ensemble for tests; nothing that matters should live in it.",
            "Without --serve it is controlled through standard input, one command per line.",
            "",
            "  --serve                  start a server, print its address and run until Ctrl-C",
            "  --port PORT              client port (2181); further members take the ports after it",
            "  --address ADDRESS        address to listen on (127.0.0.1; 0.0.0.0 for all)",
            "  --servers N              members of the ensemble (1)",
            "  --tick-time MS           length of a tick; sessions last two ticks or more (2000)",
            "  --data-dir DIR           keep the data there (default: in memory, removed at the end)",
            "  --jute-max-buffer BYTES  largest packet that is accepted (1048575)",
            "  --on-disk DIR            data below DIR instead of in memory, every write forced to disk; removed at the end",
            "  --help                   this text");

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        boolean serve = false;
        Path dataDirectory = null;
        Path disk = null;
        String serveOnly = null;
        Settings settings = new Settings();
        settings.firstPort = 2181;
        settings.tickTimes = new int[] {2000};
        try {
            for (int i = 0; i < arguments.length; i++) {
                String option = arguments[i];
                switch (option) {
                    case "--help":
                        System.out.println(USAGE);
                        return;
                    case "--serve":
                        serve = true;
                        continue;
                    case "--jute-max-buffer":
                        System.setProperty("jute.maxbuffer", Integer.toString(number(arguments, ++i)));
                        continue;
                    case "--on-disk":
                        disk = Path.of(value(arguments, ++i)).toAbsolutePath();
                        continue;
                    case "--port":
                        settings.firstPort = number(arguments, ++i);
                        break;
                    case "--address":
                        settings.host = address(value(arguments, ++i));
                        break;
                    case "--servers":
                        settings.servers = number(arguments, ++i);
                        break;
                    case "--tick-time":
                        settings.tickTimes = new int[] {number(arguments, ++i)};
                        break;
                    case "--data-dir":
                        dataDirectory = Path.of(value(arguments, ++i)).toAbsolutePath();
                        break;
                    default:
                        throw new IllegalArgumentException("unknown option: " + option);
                }
                serveOnly = option;
            }
            if (!serve && serveOnly != null) {
                throw new IllegalArgumentException(serveOnly + " needs --serve");
            }
            settings.maxSessionTimeouts = new int[] {Math.max(60_000, 20 * settings.tickTime(0))};
            settings.check();
        } catch (IllegalArgumentException e) {
            fail(e.getMessage() + "\nTry --help.", 2);
        }

        // The replies are the only thing on standard output; output of libraries is sent to standard error.
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        DataRoot data = disk != null ? DataRoot.create(disk) : DataRoot.create();
        Runtime.getRuntime().addShutdownHook(new Thread(data::remove));
        setUpZooKeeper(data, disk != null);
        if (serve) {
            serve(settings, data, dataDirectory, out);
        } else {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            new Controller(data).run(in, out);
        }
        // Servers are not closed one by one: the caller that asked to end should not have to wait for it.
        System.exit(0);
    }

    private static void serve(Settings settings, DataRoot data, Path dataDirectory, PrintStream out) throws Exception {
        settings.keepData = dataDirectory != null;
        Path directory = dataDirectory != null ? dataDirectory : data.resolve("serve");
        try {
            Ensemble ensemble = new Ensemble(settings, directory, new Ports());
            ensemble.start();
            out.println("listening on " + String.join(",", ensemble.addresses()));
        } catch (IOException e) {
            fail("cannot use " + directory + ": " + e.getMessage(), 1);
        } catch (Exception e) {
            fail(e.getMessage(), 1);
        }
        new CountDownLatch(1).await();
    }

    private static void setUpZooKeeper(DataRoot data, boolean forceWrites) {
        System.setProperty("java.io.tmpdir", data.resolve(".").normalize().toString());
        System.setProperty("zookeeper.admin.enableServer", "false");
        if (!forceWrites) {
            System.setProperty("zookeeper.forceSync", "no");
            System.setProperty("zookeeper.preAllocSize", "1024");
        }
        System.setProperty("zookeeper.4lw.commands.whitelist", "*");
        System.setProperty("zookeeper.extendedTypesEnabled", "true");
        System.setProperty("zookeeper.jmx.log4j.disable", "true");
        // A member that was alone for a while asks ever more seldom whether there is a leader, down to once a minute.
        System.setProperty("zookeeper.fastleader.maxNotificationInterval", "1000");
        System.setProperty("znode.container.maxPerMinute", "60000");
        // JMX names the same members of two ensembles alike, and nobody here looks at it.
        MBeanRegistry.setInstance(new MBeanRegistry() {
            @Override
            public void register(ZKMBeanInfo bean, ZKMBeanInfo parent) {}

            @Override
            public void unregister(ZKMBeanInfo bean) {}
        });
    }

    private static void fail(String message, int status) {
        System.err.println("curator_test_server: " + message);
        System.exit(status);
    }

    private static String address(String text) {
        try {
            return InetAddress.getByName(text).getHostAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("--address needs an address of this machine, not " + text);
        }
    }

    private static String value(String[] arguments, int index) {
        if (index >= arguments.length) {
            throw new IllegalArgumentException(arguments[index - 1] + " needs a value");
        }
        return arguments[index];
    }

    private static int number(String[] arguments, int index) {
        String text = value(arguments, index);
        try {
            int number = Integer.parseInt(text);
            if (number > 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Same message as for a number that is out of range.
        }
        throw new IllegalArgumentException(arguments[index - 1] + " needs a positive number, not " + text);
    }
}
