// SPDX-License-Identifier: Apache-2.0
package zkrecipes.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** Measures a Java peer: reads commands from standard input and answers each with one line, as the C++ drivers do. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        if (Arrays.asList(arguments).contains("--help")) {
            System.out.println(Options.USAGE);
            return;
        }
        try {
            Options options = Options.parse(arguments);
            Workload workload =
                    options.peer.equals("apache") ? ApacheWorkloads.make(options) : CuratorWorkloads.make(options);
            for (int left = options.warmup; left > 0; left -= options.cycles) {
                int cycles = Math.min(left, options.cycles);
                workload.prepare(cycles);
                workload.run(cycles);
            }
            serveCommands(workload, options);
        } catch (IllegalArgumentException e) {
            System.err.println("java driver: " + e.getMessage());
            System.exit(2);
        }
        System.exit(0);
    }

    private static void serveCommands(Workload workload, Options options) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        boolean prepared = false;
        for (String command = in.readLine(); command != null; command = in.readLine()) {
            if (!prepared) {
                workload.prepare(options.cycles);
            }
            prepared = command.equals("prepare");
            System.out.println(prepared ? "ready" : measure(workload, options));
        }
    }

    private static String measure(Workload workload, Options options) throws Exception {
        double cpuBefore = ProcessUsage.cpuSeconds();
        long started = System.nanoTime();
        workload.run(options.cycles);
        double seconds = (System.nanoTime() - started) / 1e9;
        double cpu = ProcessUsage.cpuSeconds() - cpuBefore;
        return String.format(Locale.ROOT,
                "{\"peer\": \"%s\", \"workload\": \"%s\", \"cycles\": %d, \"seconds\": %.9f, \"cpu_seconds\": %.6f, "
                        + "\"peak_rss_kb\": %d}",
                options.peer, options.workload, options.cycles, seconds, cpu, ProcessUsage.peakRssKb());
    }
}
