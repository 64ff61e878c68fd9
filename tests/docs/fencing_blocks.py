# SPDX-License-Identifier: Apache-2.0
"""Runs the SQL of docs/fencing.md on SQLite, and on PostgreSQL where its server is installed; and the Python against a small
object store with ETags."""

import http.server
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading
from pathlib import Path

GUARDED, TABLE, INSERT, FENCES, TRANSACTION, ONE_STATEMENT = range(6)
# What the statements do, in this order: block, its values, and the rows that it must change in the end.
STORY = [
    (TABLE, {}, None), (FENCES, {}, None),
    (INSERT, {"id": 1, "state": "new", "token": 10}, 1),
    (GUARDED, {"id": 1, "state": "packed", "token": 10}, 1),
    (INSERT, {"id": 1, "state": "sent", "token": 12}, 1),
    (GUARDED, {"id": 1, "state": "late", "token": 11}, 0),
    (INSERT, {"id": 1, "state": "late", "token": 11}, 0),
    (TRANSACTION, {"id": 1, "state": "paid", "token": 12}, 1),
    (TRANSACTION, {"id": 1, "state": "late", "token": 11}, 0),
    (ONE_STATEMENT, {"id": 1, "state": "closed", "token": 13}, 1),
    (ONE_STATEMENT, {"id": 1, "state": "late", "token": 12}, 0),
]


def statements(block):
    return [each.strip() for each in block.text.split(";") if each.strip()]


def story(blocks, execute, left_out):
    """execute(statement, values) -> changed rows. Returns the states of the order after each step."""
    for number, values, expected in STORY:
        if number in left_out:
            continue
        changed = None
        for statement in statements(blocks[number]):
            if changed == 0 and statement == "COMMIT":
                statement = "ROLLBACK"
            elif number == TRANSACTION and changed == 0:
                continue
            rows = execute(statement, values)
            changed = rows if statement.startswith(("UPDATE", "INSERT", "WITH")) else changed
        if expected is not None and changed != expected:
            raise AssertionError(f"{blocks[number]} changed {changed} rows with {values}, not {expected}")


def run_sqlite(blocks):
    database = sqlite3.connect(":memory:", isolation_level=None)
    story(blocks, lambda statement, values: database.execute(statement, values).rowcount, {ONE_STATEMENT})
    state = database.execute("SELECT state FROM orders").fetchone()[0]
    assert state == "paid", state


def postgres_folder():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) if shutil.which("psql") else []
    return found[-1].parent if found else None


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
        try:
            with subprocess.Popen(["psql", "-h", folder, "-U", "docs", "-X", "-v", "ON_ERROR_STOP=1", "postgres"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as psql:
                def execute(statement, values):
                    for name, value in values.items():
                        statement = re.sub(rf":{name}\b", f"'{value}'" if isinstance(value, str) else str(value), statement)
                    psql.stdin.write(statement + ";\n")
                    psql.stdin.flush()
                    answer = psql.stdout.readline().split()
                    assert answer and "ERROR:" not in answer, (statement, answer)
                    return int(answer[-1]) if answer[-1].isdigit() else 0

                story(blocks, execute, set())
                psql.stdin.close()
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, cwd=folder)
    return binaries.parent.name


class Objects(http.server.BaseHTTPRequestHandler):
    """One object with an ETag that changes with each write, as the stores have."""
    version, token, data, before_put = 0, "0", b"", None

    def do_HEAD(self):
        self.answer(200 if Objects.version else 404)

    def do_PUT(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        before, Objects.before_put = Objects.before_put, None
        if before:
            before()
        wanted = f'"{Objects.version}"' if Objects.version else None
        if self.headers.get("If-Match") != wanted or (self.headers.get("If-None-Match") == "*") != (wanted is None):
            return self.answer(412)
        Objects.version, Objects.data, Objects.token = Objects.version + 1, data, self.headers["x-amz-meta-token"]
        self.answer(200)

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
        server.shutdown()


def run(blocks, _root):
    sql = [each for each in blocks if each.language == "sql"]
    ran, problems = {}, []
    try:
        assert len(sql) == 6, "STORY in tests/docs/fencing_blocks.py is for six blocks of SQL"
        run_sqlite(sql)
        binaries = postgres_folder()
        postgres = f"PostgreSQL {run_postgres(sql, binaries)}" if binaries else "not on PostgreSQL, whose server is not installed"
        ran = {each: f"run on SQLite, {postgres}" for each in sql}
        ran[sql[ONE_STATEMENT]] = f"run on {postgres}" if binaries else postgres
        for block in (each for each in blocks if each.language == "python"):
            run_object_store(block)
            ran[block] = "run"
    except (AssertionError, sqlite3.Error, subprocess.CalledProcessError) as error:
        problems.append(f"docs/fencing.md: {error!r} {getattr(error, 'stderr', b'') or ''}")
    return ran, problems
