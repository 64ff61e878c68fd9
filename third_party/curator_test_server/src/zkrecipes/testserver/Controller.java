// SPDX-License-Identifier: Apache-2.0
package zkrecipes.testserver;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one command per line and answers each with exactly one line; README.md lists the commands. */
final class Controller {
    private final DataRoot data;
    private final Ports ports = new Ports();
    private final Map<String, Ensemble> ensembles = new LinkedHashMap<>();
    /** Of ensembles whose members run in processes of their own. */
    private final Map<String, Layout> plans = new LinkedHashMap<>();
    private int lastId = 0;

    Controller(DataRoot data) {
        this.data = data;
    }

    /** Returns when the input ends or says "quit". */
    void run(BufferedReader in, PrintStream out) throws IOException {
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.trim().split("\\s+");
            if (words[0].equals("quit")) {
                out.println("ok");
                return;
            }
            out.println(reply(words));
        }
    }

    private String reply(String[] words) {
        try {
            String result = execute(words[0], Arrays.asList(words).subList(1, words.length));
            return result.isEmpty() ? "ok" : "ok " + result;
        } catch (Exception e) {
            String message = e.getMessage() == null ? e.toString() : e.getMessage();
            return "error " + message.replaceAll("\\s+", " ");
        }
    }

    private String execute(String verb, List<String> arguments) throws Exception {
        switch (verb) {
            case "ping":
                expectArguments(arguments, 0, 0);
                return "";
            case "start":
                return start(settings(arguments));
            case "plan":
                return plan(settings(arguments));
            case "role":
                expectArguments(arguments, 2, 2);
                return ensemble(arguments).role(member(arguments, 1));
            case "stop":
                expectArguments(arguments, 1, 2);
                for (int member : members(arguments)) {
                    ensemble(arguments).stop(member);
                }
                return "";
            case "kill":
                return kill(arguments);
            case "restart":
                expectArguments(arguments, 1, 2);
                ensemble(arguments).restart(members(arguments));
                return "";
            case "leader":
                expectArguments(arguments, 1, 2);
                return Integer.toString(
                        ensemble(arguments).awaitLeader(arguments.size() == 2 ? members(arguments).get(0) : -1));
            case "link":
                expectArguments(arguments, 4, 4);
                setLink(arguments.get(0), number(arguments, 1), number(arguments, 2), arguments.get(3));
                return "";
            case "isolate":
                expectArguments(arguments, 2, 3);
                setLink(arguments.get(0), number(arguments, 1), -1, arguments.size() == 3 ? arguments.get(2) : "cut");
                return "";
            case "heal":
                expectArguments(arguments, 1, 1);
                if (plans.containsKey(arguments.get(0))) {
                    plans.get(arguments.get(0)).links().healAll();
                } else {
                    ensemble(arguments).heal();
                }
                return "";
            case "expire":
                expectArguments(arguments, 2, 2);
                ensemble(arguments).expire(session(arguments.get(1)));
                return "";
            case "info":
                expectArguments(arguments, 1, 2);
                return ensemble(arguments).info(members(arguments)).toString();
            case "close":
                expectArguments(arguments, 1, 1);
                if (plans.containsKey(arguments.get(0))) {
                    plans.remove(arguments.get(0)).close();
                    DataRoot.removeTree(data.resolve(arguments.get(0)));
                    return "";
                }
                ensemble(arguments).close();
                ensembles.remove(arguments.get(0));
                return "";
            default:
                throw new IllegalArgumentException("unknown command: " + verb);
        }
    }

    private static Settings settings(List<String> arguments) {
        Settings settings = new Settings();
        for (String argument : arguments) {
            String[] pair = argument.split("=", 2);
            if (pair[0].equals("directory") && pair.length == 2) {
                settings.directory = pair[1];
                continue;
            }
            int[] values = numbers(pair.length == 2 ? pair[1] : "", argument);
            int value = values[0];
            switch (pair[0]) {
                case "tick-time":
                    settings.tickTimes = values;
                    continue;
                case "min-session-timeout":
                    settings.minSessionTimeouts = values;
                    continue;
                case "max-session-timeout":
                    settings.maxSessionTimeouts = values;
                    continue;
                case "ports":
                    settings.ports = values;
                    continue;
                default:
                    if (values.length > 1) {
                        throw new IllegalArgumentException("this option takes one value: " + argument);
                    }
            }
            switch (pair[0]) {
                case "servers":
                    settings.servers = value;
                    break;
                case "init-limit":
                    settings.initLimit = value;
                    break;
                case "sync-limit":
                    settings.syncLimit = value;
                    break;
                case "member":
                    settings.member = value;
                    break;
                case "links":
                    settings.links = value != 0;
                    break;
                case "container-check-interval":
                    settings.containerCheckInterval = value;
                    break;
                default:
                    throw new IllegalArgumentException("unknown option: " + argument);
            }
        }
        settings.check();
        return settings;
    }

    private String plan(Settings settings) throws IOException {
        String id = "s" + ++lastId;
        Layout layout = new Layout(settings, ports);
        plans.put(id, layout);
        StringBuilder result = new StringBuilder(id + " " + String.join(",", layout.addresses()));
        result.append(" directory=").append(data.resolve(id));
        for (int member = 0; member < settings.servers; member++) {
            result.append(" ports=").append(layout.portsSeenBy(member));
        }
        return result.toString();
    }

    private String start(Settings settings) throws Exception {
        String id = "s" + ++lastId;
        Path directory = settings.directory != null ? Path.of(settings.directory) : data.resolve(id);
        Ensemble ensemble = new Ensemble(settings, directory, ports);
        try {
            ensemble.start();
        } catch (Exception e) {
            ensemble.close();
            throw e;
        }
        ensembles.put(id, ensemble);
        return id + " " + String.join(",", ensemble.addresses());
    }

    private String kill(List<String> arguments) throws Exception {
        expectArguments(arguments, 1, 2);
        Ensemble ensemble = ensemble(arguments);
        List<Integer> victims = arguments.size() == 2 && arguments.get(1).equals("leader")
                ? Collections.singletonList(ensemble.awaitLeader(-1))
                : members(arguments);
        for (int member : victims) {
            ensemble.kill(member);
        }
        return victims.size() == 1 ? victims.get(0).toString() : "";
    }

    private Ensemble ensemble(List<String> arguments) {
        Ensemble ensemble = ensembles.get(arguments.get(0));
        if (ensemble == null) {
            throw new IllegalArgumentException("there is no server " + arguments.get(0));
        }
        return ensemble;
    }

    /** The member named by the second argument, or all. */
    private List<Integer> members(List<String> arguments) {
        int size = ensemble(arguments).size();
        if (arguments.size() >= 2) {
            return Collections.singletonList(member(arguments, 1));
        }
        List<Integer> all = new ArrayList<>();
        for (int member = 0; member < size; member++) {
            all.add(member);
        }
        return all;
    }

    private int member(List<String> arguments, int position) {
        int member = number(arguments, position);
        if (member < 0 || member >= ensemble(arguments).size()) {
            throw new IllegalArgumentException("there is no member " + member + " of " + arguments.get(0));
        }
        return member;
    }

    /** With all others, if the other one is negative. */
    private void setLink(String id, int member, int other, String fate) {
        Links links = plans.containsKey(id) ? plans.get(id).links() : ensemble(List.of(id)).layout().links();
        switch (fate) {
            case "cut":
                links.set(member, other, Link.Mode.CUT, 0);
                break;
            case "freeze":
                links.set(member, other, Link.Mode.FROZEN, 0);
                break;
            case "strand":
                links.set(member, other, Link.Mode.STRANDED, 0);
                break;
            case "heal":
                links.set(member, other, Link.Mode.PASSING, 0);
                break;
            default:
                if (!fate.startsWith("delay=")) {
                    throw new IllegalArgumentException("unknown fate of a link: " + fate);
                }
                links.set(member, other, Link.Mode.PASSING, number(fate.substring("delay=".length()), fate));
        }
    }

    private static void expectArguments(List<String> arguments, int least, int most) {
        if (arguments.size() < least || arguments.size() > most) {
            throw new IllegalArgumentException("wrong number of arguments: " + arguments.size());
        }
    }

    private static long session(String text) {
        try {
            return text.startsWith("0x") ? Long.parseUnsignedLong(text.substring(2), 16) : Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not a session id: " + text);
        }
    }

    private static int[] numbers(String text, String where) {
        return Arrays.stream(text.split(",")).mapToInt(each -> number(each, where)).toArray();
    }

    private static int number(List<String> arguments, int position) {
        return number(arguments.get(position), arguments.get(position));
    }

    private static int number(String text, String where) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("a number is missing or malformed: " + where);
        }
    }
}
