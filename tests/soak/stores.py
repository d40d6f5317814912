"""The two stores of the soak: a SQLite file on a small file system of its own, which can be made full, and a PostgreSQL
server, which can be crashed.  Both have the application's table soak_ledger."""
import csv
import io
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

LEDGER = "CREATE TABLE soak_ledger (instance TEXT NOT NULL, run BIGINT NOT NULL, step TEXT NOT NULL)"
UNPRIVILEGED = "65534"  # PostgreSQL refuses root


class SqliteStore:
    name = "sqlite"
    ROOM = "4g"  # a limit of the file system; only what is written takes memory

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pawl-soak-"))
        self.path = self.folder / "soak.db"
        self.url = f"sqlite:{self.path}"
        self.is_mounted = False

    def begin(self):
        if os.geteuid() != 0:
            raise SystemExit("the soak fills a disk, so it mounts one (tmpfs): run it as root")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.ROOM}", "tmpfs", str(self.folder)], check=True)
        self.is_mounted = True
        with sqlite3.connect(self.path) as database:
            database.execute(LEDGER)
        database.close()

    def end(self):
        if self.is_mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=False)
        self.folder.rmdir()

    def make_full(self):
        """Shrinks the file system to what is in use.  Somebody may write meanwhile, so it is tried a few times."""
        for _ in range(50):
            room = os.statvfs(self.folder)
            used = (room.f_blocks - room.f_bfree) * room.f_frsize
            if self._resize(used):
                return True
        return False

    def make_room(self):
        self._resize(self.ROOM)

    def _resize(self, size):
        return subprocess.run(["mount", "-o", f"remount,size={size}", str(self.folder)],
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def rows(self, query):
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=20)
        try:
            return database.execute(query).fetchall()
        finally:
            database.close()

    def sizes(self):
        """Bytes of the database (with the pages that are still in its log), of its log, of the table of tasks (not
        known here); dead rows (there are none); steps."""
        wal = self.folder / "soak.db-wal"
        size, steps = self.rows("SELECT page_count * page_size, (SELECT count(*) FROM workflow_step) "
                                "FROM pragma_page_count, pragma_page_size")[0]
        return [size, wal.stat().st_size if wal.exists() else 0, 0, 0, steps]

    def copy_to(self, folder):
        shutil.copy(self.path, folder / "soak.db")


class PostgresStore:
    name = "postgres"

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pawl-soak-"))
        self.url = f"postgres://pawl@/postgres?host={self.folder}"
        self.programs = pathlib.Path(subprocess.run(["pg_config", "--bindir"], check=True, capture_output=True,
                                                    text=True).stdout.strip())
        self.server = None
        self.empty_bytes = 0  # what the server itself takes

    def begin(self):
        if os.geteuid() == 0:
            os.chown(self.folder, int(UNPRIVILEGED), int(UNPRIVILEGED))
        with open(self.folder / "initdb.log", "wb") as log:
            subprocess.run(self._as_user("initdb", "--no-sync", "--auth=trust", "--username=pawl", "--encoding=UTF8",
                                         "--locale=C", "-D", str(self.folder / "data")), check=True, stdout=log)
        self.start()
        self.wait_until_ready()
        self.rows(LEDGER)
        self.empty_bytes = int(self.rows("SELECT pg_database_size('postgres')")[0][0])

    def _as_user(self, program, *arguments):
        prefix = ["setpriv", "--pdeathsig", "KILL"]
        if os.geteuid() == 0:
            prefix += ["--reuid", UNPRIVILEGED, "--regid", UNPRIVILEGED, "--clear-groups"]
        return prefix + [str(self.programs / program), *arguments]

    def start(self):
        with open(self.folder / "server.log", "ab") as log:
            self.server = subprocess.Popen(
                self._as_user("postgres", "-D", str(self.folder / "data"), "-k", str(self.folder), "-c",
                              "listen_addresses=", "-c", "max_connections=200", "-c", "autovacuum_naptime=10s"),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_until_ready(self):
        ready = [str(self.programs / "pg_isready"), "-q", "-h", str(self.folder), "-U", "pawl", "-d", "postgres"]
        for _ in range(600):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL does not start: see {self.folder}/server.log")

    def crash(self):
        """An immediate shutdown: no checkpoint, connections cut, recovery at the next start."""
        self.server.send_signal(signal.SIGQUIT)
        self.server.wait()

    def end(self):
        if self.server is not None and self.server.poll() is None:
            self.crash()
        shutil.rmtree(self.folder, ignore_errors=True)

    def rows(self, query):
        answer = subprocess.run(
            [str(self.programs / "psql"), "-X", "-q", "--csv", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder),
             "-U", "pawl", "-d", "postgres", "-c", query], check=True, capture_output=True, text=True).stdout
        return [tuple(row) for row in csv.reader(io.StringIO(answer))]

    def sizes(self):
        """Bytes of the database, of its log (the server bounds it itself), of the table of tasks; dead rows; steps."""
        row = self.rows(f"SELECT pg_database_size('postgres') - {self.empty_bytes}, 0, "
                        "pg_total_relation_size('workflow_task'), "
                        "(SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables), "
                        "(SELECT count(*) FROM workflow_step)")[0]
        return [int(value) for value in row]

    def copy_to(self, folder):
        shutil.copy(self.folder / "server.log", folder / "postgres-server.log")
