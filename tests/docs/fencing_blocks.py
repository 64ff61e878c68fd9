# SPDX-License-Identifier: Apache-2.0
"""Runs the SQL of docs/fencing.md as it is printed, on SQLite, and on PostgreSQL where its server is installed; and the Python against
a small object store with ETags."""

import http.server
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
from pathlib import Path

GUARDED, TABLE, INSERT, FENCES, LEAVE, TRANSACTION, ONE_STATEMENT = range(7)
# What the statements do, in this order: block, its values, and how many rows each of its statements changes. Of ONE_STATEMENT: what it
# answers.
STORY = [
    (TABLE, {}, []), (FENCES, {}, [1]),
    (INSERT, {"id": 1, "state": "new", "token": 10}, [1]),
    (GUARDED, {"id": 1, "state": "packed", "token": 10}, [1]),
    (INSERT, {"id": 1, "state": "sent", "token": 12}, [1]),
    (GUARDED, {"id": 1, "state": "late", "token": 11}, [0]),
    (INSERT, {"id": 1, "state": "late", "token": 11}, [0]),
    (GUARDED, {"id": 2, "state": "sent", "token": 12}, [0]),
    # A row that is marked as deleted keeps its token.
    (INSERT, {"id": 3, "state": "new", "token": 10}, [1]),
    (GUARDED, {"id": 3, "state": "deleted", "token": 12}, [1]),
    (INSERT, {"id": 3, "state": "late", "token": 11}, [0]),
    (TRANSACTION, {"id": 1, "state": "paid", "token": 12}, [1, 1]),
    (TRANSACTION, {"id": 1, "state": "late", "token": 11}, [0, 0]),
    (TRANSACTION, {"id": 2, "state": "paid", "token": 12}, [1, 0]),
    # The new holder has left its token and written nothing yet.
    (LEAVE, {"token": 20}, [1]),
    (TRANSACTION, {"id": 1, "state": "late", "token": 13}, [0, 0]),
    (LEAVE, {"token": 13}, [0]),
    (ONE_STATEMENT, {"id": 1, "state": "closed", "token": 20}, (1, 1)),
    (ONE_STATEMENT, {"id": 1, "state": "late", "token": 19}, (0, 0)),
    (ONE_STATEMENT, {"id": 2, "state": "closed", "token": 20}, (1, 0)),
]


def statements(block):
    return [each.strip() for each in block.text.split(";") if each.strip()]


def changes(session, block, values):
    """Runs a block as a script does, which looks at no answer. How many rows each of its statements has changed."""
    answers = [(each, session.execute(each, values)) for each in statements(block)]
    return [rows for each, rows in answers if each.startswith(("UPDATE", "INSERT"))]


def tell(blocks, session, left_out=()):
    for number, values, expected in STORY:
        if number not in left_out:
            found = session.execute(blocks[number].text.strip().rstrip(";"), values) if number == ONE_STATEMENT \
                else changes(session, blocks[number], values)
            assert found == expected, f"{blocks[number]} with {values}: {found}, not {expected}"


def expect(what, found, expected):
    assert found == expected, f"{what}: {found}, not {expected}"


class Sqlite:
    def __init__(self, file, busy_timeout_ms):
        self.database = sqlite3.connect(file, isolation_level=None, timeout=0, check_same_thread=False)
        self.database.execute(f"PRAGMA busy_timeout = {busy_timeout_ms}")

    def execute(self, statement, values):
        return self.database.execute(statement, values).rowcount

    def state(self):
        return self.database.execute("SELECT state FROM orders WHERE id = 1").fetchone()[0]


def run_sqlite(blocks):
    with tempfile.TemporaryDirectory(prefix="zkrecipes_sqlite.") as folder:
        patient, hasty = Sqlite(f"{folder}/orders", 60_000), Sqlite(f"{folder}/orders", 0)
        tell(blocks, patient, {ONE_STATEMENT})
        expect("the order", patient.state(), "paid")
        # A newer holder in the middle of its transaction, and a late writer beside it.
        begin, fence, write, commit = statements(blocks[TRANSACTION])
        newer = Sqlite(f"{folder}/orders", 60_000)
        values = {"id": 1, "state": "closed", "token": 30}
        expect("the newer holder", [newer.execute(each, values) for each in (begin, fence, write)][1:], [1, 1])
        late = {"id": 1, "state": "late", "token": 21}
        try:
            changes(hasty, blocks[TRANSACTION], late)
            raise AssertionError("without a busy_timeout SQLite has waited")
        except sqlite3.OperationalError as error:
            expect("SQLite", str(error), "database is locked")
        found = []
        waiter = threading.Thread(target=lambda: found.append(changes(patient, blocks[TRANSACTION], late)))
        waiter.start()
        newer.execute(commit, {})
        waiter.join()
        expect("the late writer", found, [[0, 0]])
        expect("the order", patient.state(), "closed")
        for each in (patient, hasty, newer):
            each.database.close()


def postgres_folder():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) if shutil.which("psql") else []
    return found[-1].parent if found else None


class Psql:
    """A connection to PostgreSQL. send() does not wait for the answer."""

    def __init__(self, folder):
        self.psql = subprocess.Popen(  # pylint: disable=consider-using-with
            ["psql", "-h", folder, "-U", "docs", "-XAt", "-v", "VERBOSITY=sqlstate", "postgres"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def send(self, statement, values):
        for name, value in values.items():
            statement = re.sub(rf":{name}\b", f"'{value}'" if isinstance(value, str) else str(value), statement)
        self.psql.stdin.write(statement + ";\n")
        self.psql.stdin.flush()

    def answer(self):
        """Changed rows, the cells of a row, or the error: "ERROR:  40001"."""
        line = self.psql.stdout.readline().strip()
        if line.startswith("ERROR:"):
            return line
        cells = line.split("|")
        if len(cells) > 1:
            return tuple(int(each) for each in cells)
        return int(line.split()[-1]) if line[-1:].isdigit() else line

    def execute(self, statement, values):
        self.send(statement, values)
        return self.answer()

    def close(self):
        self.psql.stdin.close()
        self.psql.wait()
        self.psql.stdout.close()


def two_holders(blocks, first, second, watcher):
    """Two connections to PostgreSQL: `first` is in the middle of its transaction, and `second` comes and waits for it."""
    begin, fence, write, commit = statements(blocks[TRANSACTION])

    def until_it_waits():
        limit = time.monotonic() + 30
        while watcher.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'", {}) != 1:
            assert time.monotonic() < limit, "PostgreSQL does not wait"

    def meet(token, other_token, end, statement, level=""):
        """The answer to a statement of `second` that waited until `first` had ended its transaction."""
        changes(first, blocks[LEAVE], {"token": min(token, other_token)})
        for each in (begin, fence, write):
            first.execute(each, {"id": 1, "state": "first", "token": token})
        if level:
            second.execute(f"{begin} ISOLATION LEVEL {level}", {})
        second.send(statement, {"id": 1, "state": "second", "token": other_token})
        until_it_waits()
        first.execute(end, {})
        answer = second.answer()
        if level:
            second.execute("ROLLBACK", {})
        return answer

    one_statement = blocks[ONE_STATEMENT].text.strip().rstrip(";")
    expect("a late writer", meet(31, 30, commit, fence), 0)
    expect("the newer holder", meet(32, 33, commit, fence), 1)
    expect("a late writer, one statement", meet(35, 34, commit, one_statement), (0, 0))
    expect("the newer holder, one statement", meet(36, 37, commit, one_statement), (1, 1))
    token = 40
    for level in ("REPEATABLE READ", "SERIALIZABLE"):
        expect(f"a late writer, {level}", meet(token + 1, token, commit, fence, level), "ERROR:  40001")
        expect("its second try", changes(second, blocks[TRANSACTION], {"id": 1, "state": "late", "token": token}), [0, 0])
        expect(f"the newer holder, {level}", meet(token + 2, token + 3, commit, fence, level), "ERROR:  40001")
        expect("its second try", changes(second, blocks[TRANSACTION], {"id": 1, "state": "new", "token": token + 3}), [1, 1])
        expect(f"after a rollback, {level}", meet(token + 4, token + 5, "ROLLBACK", fence, level), 1)
        token += 10
    # A statement does not see a row that was inserted while it waited.
    first.execute(begin, {})
    first.execute(fence, {"token": 60})
    first.execute("INSERT INTO orders VALUES (9, 'new', 0)", {})
    second.send(one_statement, {"id": 9, "state": "second", "token": 61})
    until_it_waits()
    first.execute(commit, {})
    expect("a row that was inserted meanwhile", second.answer(), (1, 0))
    expect("the repetition", second.execute(one_statement, {"id": 9, "state": "second", "token": 61}), (1, 1))


def run_postgres(blocks, binaries):
    """A server of its own, reached through a socket in its own folder; it refuses to run as root."""
    as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="zkrecipes_pg.") as folder:
        if as_user:
            shutil.chown(folder, "nobody", "nogroup")
        subprocess.run([*as_user, binaries / "initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "docs", "--no-sync"],
                       check=True, capture_output=True, cwd=folder)
        control = [*as_user, binaries / "pg_ctl", "-D", f"{folder}/data"]
        subprocess.run([*control, "-w", "-l", f"{folder}/log", "-o", f"-k {folder} -c listen_addresses= -F", "start"],
                       check=True, capture_output=True, cwd=folder)
        sessions = []
        try:
            sessions += [Psql(folder), Psql(folder), Psql(folder)]
            tell(blocks, sessions[0])
            two_holders(blocks, *sessions)
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, cwd=folder)
            for each in sessions:
                each.close()
    return binaries.parent.name


class Objects(http.server.BaseHTTPRequestHandler):
    """One object with an ETag that changes with each write, as the stores have."""
    version, token, data, before_put = 0, "0", b"", None
    head_status, put_status, requests = None, None, 0  # what it answers in place of the truth; how often it was asked

    def do_HEAD(self):
        Objects.requests += 1
        self.answer(Objects.head_status or (200 if Objects.version else 404))

    def do_PUT(self):
        Objects.requests += 1
        data = self.rfile.read(int(self.headers["Content-Length"]))
        before, Objects.before_put = Objects.before_put, None
        if before:
            before()
        wanted = f'"{Objects.version}"' if Objects.version else None
        if self.headers.get("If-Match") != wanted or (self.headers.get("If-None-Match") == "*") != (wanted is None):
            return self.answer(412)
        if Objects.put_status not in (None, 201):
            return self.answer(Objects.put_status)
        Objects.version, Objects.data, Objects.token = Objects.version + 1, data, self.headers["x-amz-meta-token"]
        self.answer(Objects.put_status or 200)

    def answer(self, status):
        self.send_response(status)
        if Objects.version:
            self.send_header("ETag", f'"{Objects.version}"')
            self.send_header("x-amz-meta-token", Objects.token)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def run_object_store(block):
    names = {}
    exec(compile(block.text, str(block), "exec"), names)  # pylint: disable=exec-used
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Objects) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def put(data, token):
            return names["put"](f"127.0.0.1:{server.server_port}", "/bucket/report", data, token)

        assert put(b"first", 10) and put(b"second", 10) and put(b"third", 12)
        assert not put(b"late", 11)
        # The newer holder writes between the other's look and its write.
        Objects.before_put = lambda: put(b"newer", 14)
        assert not put(b"late", 13)
        Objects.before_put = lambda: put(b"older", 14)
        assert put(b"newest", 15)
        assert (Objects.data, Objects.token) == (b"newest", "15"), (Objects.data, Objects.token)

        Objects.put_status = 201  # as Azure answers
        assert put(b"created", 15)
        for head, answer_to_put in ((503, None), (403, None), (None, 403), (None, 503), (None, 412)):
            Objects.head_status, Objects.put_status, Objects.requests = head, answer_to_put, 0
            try:
                raise AssertionError(f"put() has returned {put(b'lost', 16)} after {head or answer_to_put}")
            except OSError:
                assert Objects.requests <= 20, Objects.requests
        assert (Objects.data, Objects.token) == (b"created", "15"), (Objects.data, Objects.token)
        server.shutdown()


def run(blocks, _root):
    sql = [each for each in blocks if each.language == "sql"]
    ran, problems = {}, []
    try:
        assert len(sql) == 7, "STORY in tests/docs/fencing_blocks.py is for seven blocks of SQL"
        run_sqlite(sql)
        binaries = postgres_folder()
        postgres = f"PostgreSQL {run_postgres(sql, binaries)}" if binaries else "not on PostgreSQL, whose server is not installed"
        ran = {each: f"run on SQLite, {postgres}" for each in sql}
        ran[sql[ONE_STATEMENT]] = f"run on {postgres}" if binaries else "not run, PostgreSQL's server is not installed"
        for block in (each for each in blocks if each.language == "python"):
            run_object_store(block)
            ran[block] = "run"
    except (AssertionError, sqlite3.Error, subprocess.CalledProcessError) as error:
        problems.append(f"docs/fencing.md: {error!r} {getattr(error, 'stderr', b'') or ''}")
    return ran, problems
