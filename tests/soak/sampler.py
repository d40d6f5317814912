"""Samples processes and stores every few seconds, into daemons.csv and stores.csv."""
import asyncio
import collections
import csv
import os
import re
import sqlite3
import subprocess

from client import Unavailable, boot_s

PERIOD_S = 5.0
DAEMON_COLUMNS = ["time_s", "store", "daemon", "steady", "pid", "age_s", "rss_kb", "anonymous_kb", "threads",
                  "descriptors", "clients", "left_over", "kinds",
                  "cached_bytes", "heap_used_bytes", "heap_free_bytes"]
STORE_COLUMNS = ["time_s", "store", "database_bytes", "wal_bytes", "task_table_bytes", "dead_rows", "steps"]


CLOSE_WAIT = "08"  # the client has closed the connection, and the daemon has not
LISTEN = "0A"


def client_connections(lines, port):
    """inode -> state, of the connections that clients have made to this port; lines: those of /proc/net/tcp."""
    rows = (line.split() for line in lines)
    return {row[9]: row[3] for row in rows if row[1].endswith(f":{port:04X}") and row[3] != LISTEN}


def descriptor_figures(names, connections):
    """How many descriptors are the daemon's own, are connections of clients, are connections that clients have left; and
    what its own ones are."""
    states = [connections[name[8:-1]] for name in names if name.startswith("socket:[") and name[8:-1] in connections]
    kinds = collections.Counter(os.path.basename(re.sub(r"(socket|pipe):\[\d+\]", r"\1", name)) for name in names)
    kinds["socket"] -= len(states)
    text = " ".join(f"{kind}*{count}" for kind, count in sorted(kinds.items()))
    return [len(names) - len(states), len(states), states.count(CLOSE_WAIT), text]


def descriptors_of(pid):
    """What each one is, as the kernel names it."""
    names = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            names.append(os.readlink(f"/proc/{pid}/fd/{number}"))
        except FileNotFoundError:
            pass  # closed since
    return names


def process_figures(pid, port):
    """Resident and anonymous memory in KiB, threads, descriptors."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        status = dict(line.split(":", 1) for line in file if ":" in line)
    figures = [int(status[key].split()[0]) for key in ("VmRSS", "RssAnon", "Threads")]
    with open("/proc/net/tcp", encoding="ascii") as file:
        connections = client_connections(list(file)[1:], port)
    return [*figures, *descriptor_figures(descriptors_of(pid), connections)]


def heap_figures(path, now_s):
    """What a body of this process noted last (module_soak.c): bytes in use, bytes free.  Empty when that is old."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - 200))
            noted_s, used, free = file.read().splitlines()[-1].split()
        return [int(used), int(free)] if now_s - int(noted_s) < 2 * PERIOD_S else ["", ""]
    except (OSError, ValueError, IndexError):
        return ["", ""]


async def cached_bytes(daemon):
    """What the runner keeps of recent runs, by its metrics; empty when it does not say."""
    try:
        _, text = await daemon.pool.request("GET", "/metrics", timeout_s=5.0)
        match = re.search(r"^pawl_runner_cached_bytes (\d+)", text, re.MULTILINE)
        return match.group(1) if match else ""
    except (Unavailable, TypeError):
        return ""


class Table:
    def __init__(self, path, columns):
        self.file = open(path, "w", newline="", encoding="utf-8")
        self.table = csv.writer(self.file)
        self.table.writerow(columns)

    def add(self, row):
        self.table.writerow(row)
        self.file.flush()


async def sample_daemon(daemon, table, began):
    try:
        figures = process_figures(daemon.pid, daemon.port)
    except (OSError, KeyError):
        return  # it has just ended
    cached = await cached_bytes(daemon) if daemon.is_steady else ""
    table.add([f"{boot_s() - began:.1f}", daemon.store.name, daemon.name, int(daemon.is_steady), daemon.pid,
               f"{boot_s() - daemon.started_at:.1f}", *figures, cached, *heap_figures(daemon.heap, boot_s())])


async def sample(stores, daemons, folder, began):
    by_daemon = Table(folder / "daemons.csv", DAEMON_COLUMNS)
    by_store = Table(folder / "stores.csv", STORE_COLUMNS)
    while True:
        due = boot_s() + PERIOD_S
        for daemon in daemons:
            await sample_daemon(daemon, by_daemon, began)
        for store in stores:
            try:
                by_store.add([f"{boot_s() - began:.1f}", store.name, *await asyncio.to_thread(store.sizes)])
            except (OSError, sqlite3.Error, subprocess.CalledProcessError):
                pass  # the store is away just now
        await asyncio.sleep(max(0.1, due - boot_s()))
