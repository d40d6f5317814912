"""What the soak does to Pawl: kills, stops past the lease, a full disk, a crashed database server.  Each is noted with its
times, for the audit and the plot."""
import asyncio
import csv
import random

from client import boot_s

KILL_EVERY_S = 7.0
# Longer than the lease (30 s) on SQLite; on PostgreSQL longer than the 10 s after which a silent runner counts as dead.
STOP_S = {"sqlite": 36.0, "postgres": 15.0}
STOP_EVERY_S = 80.0  # from the beginning of one to the beginning of the next
BURST_RUNS = 80
BURST_S = 0.3
AWAY_EVERY_S = 65.0
FULL_S = 8.0
DOWN_S = 7.0  # longer than the 5 s that a request waits for the store
RECOVERY_S = 5.0  # after a fault; latencies are not counted until then


class Faults:
    """The list of what was done, kept in memory and in faults.csv."""

    def __init__(self, path):
        self.file = open(path, "w", newline="", encoding="utf-8")
        self.table = csv.writer(self.file)
        self.table.writerow(["kind", "store", "pid", "begin_s", "end_s", "text"])
        self.rows = []  # (kind, store's name, pid, begin, end)
        self.away_since = {}  # store's name -> when it began to be away

    def note(self, kind, store, pid, begin, end, text=""):
        self.rows.append((kind, store.name, pid, begin, end))
        self.table.writerow([kind, store.name, pid, f"{begin:.6f}", f"{end:.6f}", text])
        self.file.flush()

    def count(self, kind, store):
        return sum(row[0] == kind and row[1] == store.name for row in self.rows)

    def store_was_away(self, store, begin, end):
        if store.name in self.away_since:
            return True
        return any(row[0] in ("full", "crash", "stop") and row[1] == store.name and row[3] < end and
                   row[4] + RECOVERY_S > begin for row in self.rows)


async def kill_victims(store, daemons, faults):
    while True:
        await asyncio.sleep(random.uniform(0.5, 1.5) * KILL_EVERY_S)
        victims = [daemon for daemon in daemons if daemon.is_alive and not daemon.is_steady and not daemon.is_stopped]
        if not victims:
            continue
        victim = random.choice(victims)
        faults.note("kill", store, victim.pid, boot_s(), boot_s(), victim.name)
        victim.kill()
        victim.start()


async def stop_victims(store, daemons, client, faults):
    """The victim gets more runs than it has threads for, so that it is stopped with bodies that are yet to begin."""
    while True:
        await asyncio.sleep(random.uniform(0.8, 1.2) * (STOP_EVERY_S - STOP_S[store.name]))
        victims = [daemon for daemon in daemons if daemon.is_alive and not daemon.is_steady]
        victim = random.choice(victims)
        await client.create_burst(victim, BURST_RUNS)
        await asyncio.sleep(BURST_S)
        if not victim.is_alive:
            continue
        begin, pid = boot_s(), victim.pid
        victim.stop()
        try:
            await asyncio.sleep(STOP_S[store.name])
        finally:
            faults.note("stop", store, pid, begin, boot_s(), victim.name)
            victim.proceed()


async def fill_disk(store, faults):
    while True:
        await asyncio.sleep(random.uniform(0.8, 1.2) * AWAY_EVERY_S)
        begin = faults.away_since[store.name] = boot_s()
        full = await asyncio.to_thread(store.make_full)
        try:
            await asyncio.sleep(FULL_S)
        finally:
            store.make_room()
            faults.note("full" if full else "not full", store, 0, begin, boot_s())
            del faults.away_since[store.name]


async def crash_server(store, faults):
    while True:
        await asyncio.sleep(random.uniform(0.8, 1.2) * AWAY_EVERY_S)
        begin = faults.away_since[store.name] = boot_s()
        try:
            await asyncio.to_thread(store.crash)
            await asyncio.sleep(DOWN_S)
        finally:
            store.start()  # by this thread: the kernel ends the server with the thread that started it
        await asyncio.to_thread(store.wait_until_ready)
        faults.note("crash", store, 0, begin, boot_s())
        del faults.away_since[store.name]


def tasks(store, daemons, client, faults):
    away = fill_disk(store, faults) if store.name == "sqlite" else crash_server(store, faults)
    return [kill_victims(store, daemons, faults), stop_victims(store, daemons, client, faults), away]
