# SPDX-License-Identifier: Apache-2.0
"""Checks a block of shell or of a crontab: bash can parse it, and what it names of this project exists."""

import json
import re
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path

# Programs of others that the pages call. A name that is missing here is a typing error, or wants a line.
EXTERNAL = set("""apt apt-get base64 bash cat cd chmod command conan cp crontab curl cut date docker dpkg echo export false flock g++ git
 grep head jq kill logger ls make man mkdir mktemp mv openssl pg_dump pkg-config printf ps psql python3 read rm rsync sed set sleep
 sqlite3 systemctl tail tar tee test timeout touch trap true umask unset vcpkg wait watch xargs zkCli.sh
 backup.sh cleanup.sh deploy.sh render.sh report.sh scheduler sh upload.sh""".split())
# That no script of this project installs.
PACKAGES_OF_USERS = {"zookeeperd"}
BUILD_TOOLS = {"cmake", "ctest"}
WRAPPERS = {"sudo", "exec", "nice", "time", "env", "nohup", "!"}
RESERVED = {"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "{", "}"}
SEPARATORS = {";", "&", "&&", "|", "||", "(", ")", ";;", "\n"}
CRON_TIME = re.compile(r"^(?:@\w+|(?:[\d*,/-]+\s+){4}[\d*,/a-z-]+)\s+")
ASSIGNMENT = re.compile(r"^\w+\+?=")
IN_PROJECT = re.compile(r"^(?:bench|cmake|connection|docs|examples|include|packaging|recipes|scripts|testkit|tests|third_party|"
                        r"tools)/[\w./*-]*$")
# Whose options stand behind a "--".
BEHIND_DASHES = {"scripts/demo": ["examples/herd_effect", "examples/pause"],
                 "scripts/comparison": ["bench/comparison/comparison"]}


def commands_of(block):
    """The lines to type: all of sh; of console those behind a prompt, with their continuations; what a crontab runs."""
    if block.language == "sh":
        return block.text
    if block.language == "crontab":
        return "".join(CRON_TIME.sub("", line) + "\n" for line in block.text.splitlines())
    lines, continues = [], False
    for line in block.text.split("\n"):
        if line.startswith(("$ ", "# ")):
            lines.append(line[2:])
        elif continues:
            lines.append(line.removeprefix("> "))
        else:
            continues = False
            continue
        continues = line.endswith("\\")
    return "\n".join(lines) + "\n"


def simple_commands(text):
    """Each command as a list of words, without redirections and assignments in front."""
    words = []
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words += [*lexer, "\n"]
        except ValueError:  # a quotation over several lines: bash has checked it, its words are not ours
            words.append("\n")
    command, skip = [], False
    for word in words + ["\n"]:
        if word in SEPARATORS:
            if command:
                yield command
            command, skip = [], False
        elif skip:
            skip = False
        elif re.match(r"^\d*[<>]", word):
            skip = True
        elif not command and (word in RESERVED or word in WRAPPERS or ASSIGNMENT.match(word) or word == "$"):
            if word == "for":  # its list is data
                command = ["true"]
        else:
            command.append(word)


class Checker:
    """root: of the project. build: where programs are built. zklock: the tool, or nothing if this build has none."""

    def __init__(self, root, build, zklock=None):
        self.root, self.build, self.zklock = Path(root), Path(build), zklock
        presets = json.loads((self.root / "CMakePresets.json").read_text(encoding="utf-8"))
        self.presets, self.build_presets, self.test_presets = (
            {each["name"] for each in presets.get(kind, []) if not each.get("hidden")}
            for kind in ("configurePresets", "buildPresets", "testPresets"))
        self.cmake_options = set(re.findall(r"\bZKRECIPES_\w+", "".join(
            each.read_text(encoding="utf-8") for each in [*self.root.glob("CMakeLists.txt"), *self.root.glob("cmake/*.cmake")])))
        self.packages = set(re.findall(r"[a-z0-9][a-z0-9+.-]+", (self.root / "scripts/setup").read_text(encoding="utf-8")))
        self.not_built = []  # blocks with commands of programs that this build does not have

    def problems(self, block):
        text = commands_of(block)
        if not text.strip():
            return [f"{block}: no line begins with a prompt ($)"]
        if block.language == "crontab":
            wrong = [line for line in block.text.splitlines()
                     if line.strip() and not line.startswith("#") and not ASSIGNMENT.match(line) and
                     (not CRON_TIME.match(line) or re.search(r"(?<!\\)%", line))]
            if wrong:
                return [f"{block}: cron cannot read '{each}'" for each in wrong]
        parsed = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
        if parsed.returncode != 0:
            return [f"{block}: bash cannot parse it: {parsed.stderr.strip()}"]
        return [f"{block}: {problem}" for command in simple_commands(text) for problem in self.of_command(command, block)]

    def of_command(self, words, block):
        name, arguments = words[0], words[1:]
        own, behind = (arguments[:arguments.index("--")], arguments[arguments.index("--") + 1:]) if "--" in arguments \
            else (arguments, [])
        yield from self.of_paths(arguments)
        if name in BUILD_TOOLS:
            yield from self.of_build_tool(name, own)
        elif name == "pkg-config":
            yield from self.of_options(name, name, own)
        elif name == "g++":
            yield from (f"g++ refuses {each}" for each in own if each.startswith("-std=") and subprocess.run(
                ["g++", each, "-fsyntax-only", "-x", "c++", "/dev/null"], capture_output=True, check=False).returncode != 0)
        elif name in ("sh", "bash") and arguments[:1] == ["-c"]:
            yield from self.of_script(arguments[1], block)
        elif name == "apt-get" and "install" in arguments:
            unknown = [a for a in arguments if a[0] not in "-./" and a != "install" and a not in self.packages | PACKAGES_OF_USERS]
            yield from (f"scripts/setup knows no package {each}" for each in unknown)
        elif name == "zklock":
            yield from self.of_zklock(own, block)
            if behind:
                yield from self.of_command(behind, block)
        elif IN_PROJECT.match(name):
            if not (self.root / name).is_file():
                yield f"there is no {name}"
                return
            yield from self.of_options(str(self.root / name), name, own)
            programs = [str(self.build / each) for each in BEHIND_DASHES.get(name, [])]
            if behind and not programs:
                yield f"{name} passes nothing on behind --"
            elif behind and all(Path(each).exists() for each in programs):
                known = "".join(help_of(each) for each in programs)
                yield from (f"no program of {name} has the option {each}" for each in options_in(behind)
                            if not mentions(known, each))
            elif behind:
                self.not_built.append(block)
        elif name.startswith("build/"):
            yield from self.of_built(name, own, block)
        elif name.startswith("./"):
            pass  # a program that the page has just shown how to make
        elif name not in EXTERNAL:
            yield (f"unknown command '{name}'; a program that is not of this project wants its name in "
                   "tests/docs/shell_names.py")

    def of_paths(self, arguments):
        for each in arguments:
            if IN_PROJECT.match(each) and not list(self.root.glob(each.rstrip("/"))):
                yield f"there is no {each}"

    def of_script(self, text, block):
        parsed = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
        if parsed.returncode != 0:
            yield f"bash cannot parse '{text}': {parsed.stderr.strip()}"
            return
        for command in simple_commands(text):
            yield from self.of_command(command, block)

    def of_build_tool(self, name, arguments):
        mode = arguments[0] if arguments[:1] in (["--build"], ["--install"]) else None
        presets = self.test_presets if name == "ctest" else self.build_presets if mode == "--build" else self.presets
        for before, each in zip(arguments, arguments[1:]):
            if before == "--preset" and each not in presets:
                yield f"CMakePresets.json has no preset {each} for {name} {mode or ''}"
            elif each.startswith("build/") and each.split("/")[1] not in self.presets:
                yield f"CMakePresets.json has no preset {each.split('/')[1]}"
        known = help_of(name) + (output_of(name, mode) if mode else "")
        for option in options_in(arguments):
            if option.startswith("-D"):
                variable = option[2:].split(":")[0]
                if variable.startswith("ZKRECIPES_") and variable not in self.cmake_options:
                    yield f"CMake has no option {variable} here"
            elif not mentions(known, option):
                yield f"'{name} {mode or ''} --help' has no option {option}"

    def of_built(self, name, arguments, block):
        _, preset, *rest = name.split("/")
        if preset not in self.presets:
            yield f"CMakePresets.json has no preset {preset}"
        folder = self.root.joinpath(*rest[:-1])
        program = self.build.joinpath(*rest)
        if not folder.is_dir():
            yield f"there is no folder {'/'.join(rest[:-1])}"
        elif not program.exists():
            # Not in this build. That the folder builds it is all that can be said.
            if not re.search(rf"\b{re.escape(rest[-1])}\b", (folder / "CMakeLists.txt").read_text(encoding="utf-8")):
                yield f"{folder.relative_to(self.root)}/CMakeLists.txt builds no {rest[-1]}"
            else:
                self.not_built.append(block)
        else:
            yield from self.of_options(str(program), name, arguments)

    def of_options(self, program, name, arguments):
        for option in options_in(arguments):
            if not mentions(help_of(program), option):
                yield f"'{name} --help' has no option {option}"

    def of_zklock(self, arguments, block):
        if not self.zklock:
            self.not_built.append(block)
            return
        known = help_of(self.zklock)
        verb = next((a for a in arguments if not a.startswith("-")), None)
        if verb:
            known += help_of(self.zklock, verb)
            if not mentions(help_of(self.zklock), verb):
                yield f"'zklock --help' has no command {verb}"
        for option in options_in(arguments):
            if not mentions(known, option):
                yield f"'zklock {verb or ''} --help' has no option {option}"


def options_in(arguments):
    return [each.split("=")[0] for each in arguments if re.match(r"^--?[A-Za-z]", each) and not each.startswith("--gtest_")]


def mentions(text, word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def help_of(program, *arguments):
    return output_of(program, *arguments, "--help")


@lru_cache(maxsize=None)
def output_of(program, *arguments):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL)
    return done.stdout + done.stderr
