#!/usr/bin/env -S python3 -B
"""Runs the soak: mixed load, kills, stops, full disks, crashed servers, idle and hostile clients, on both stores.  Ends
with 0 when nothing was lost, no body ran too late, and every figure is flat.  docs/reliability.md explains it."""
import argparse
import asyncio
import dataclasses
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

import audit
import daemons as daemon_module
import faults as fault_module
import hostile
import sampler
import stores as store_module
import stories
import verdict
from client import Service, boot_s

HERE = pathlib.Path(__file__).resolve().parent
DAEMONS_PER_STORE = 3
DRAIN_S = 360.0
OPEN_TASKS = f"SELECT workflow, id FROM workflow_tasks WHERE id NOT LIKE '{audit.PARKED}%'"


@dataclasses.dataclass
class Part:
    """One store and everything around it."""
    store: object
    daemons: list
    service: Service
    client: stories.Client
    hostility: hostile.Hostility
    bodies: pathlib.Path
    prober: subprocess.Popen = None


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.problems = audit.Problems()
        self.faults = fault_module.Faults(folder / "faults.csv")
        self.parts = []
        self.stores = []
        self.began = boot_s()
        self.offset = audit.wall_minus_boot()
        self.late_s = 0.0  # by how much the soak's own loop was late at most

    def all_daemons(self):
        return [daemon for part in self.parts for daemon in part.daemons]

    async def begin(self):
        for kind in (store_module.SqliteStore, store_module.PostgresStore):
            store = kind()
            self.stores.append(store)
            store.begin()
            daemons = [daemon_module.Daemon(self.options.pawld, self.options.module, store, number, self.folder)
                       for number in range(DAEMONS_PER_STORE)]
            service = Service(daemons)
            self.parts.append(Part(store, daemons, service, stories.Client(service, f"run-{store.name}", self.problems),
                                   hostile.Hostility(), self.folder / f"bodies-{store.name}"))
            for daemon in daemons:  # the first one makes the tables, and parks runs while it is alone
                daemon.start()
                if not await daemon.wait_until_live():
                    raise SystemExit(f"{daemon.name} does not start: see {self.folder}/{daemon.name}.log")
                if daemon.is_steady:
                    await stories.park(self.parts[-1].client, daemon)

    def start_prober(self, part):
        part.prober = subprocess.Popen(
            daemon_module.LEASH + [sys.executable, "-B", str(HERE / "prober.py"), str(part.daemons[0].port),
                                   str(self.folder / f"latency-{part.store.name}.csv"), f"probe-{part.store.name}"])

    def disturb(self):
        for part in self.parts:
            yield from fault_module.tasks(part.store, part.daemons, part.client, self.faults)
            yield hostile.be_hostile(part.client, part.daemons[0], self.faults, part.hostility)

    async def load(self):
        """The soak itself.  Answers how long it took."""
        self.began = boot_s()
        until = self.began + self.options.minutes * 60
        work = [stories.work(part.service, part.bodies, self.problems) for part in self.parts]
        keeping = [daemon_module.keep_alive(self.all_daemons(), self.faults, self.problems), self.tell(),
                   self.watch_itself()]
        workers = [asyncio.create_task(task) for task in work]
        keepers = [asyncio.create_task(task) for task in keeping]
        sampling = asyncio.create_task(sampler.sample(self.stores, self.all_daemons(), self.folder, self.began))
        disturbing = [asyncio.create_task(task) for task in self.disturb()]
        for part in self.parts:
            self.start_prober(part)
        telling = await asyncio.gather(*(stories.tell_stories(part.client, self.options.rate, until)
                                         for part in self.parts))
        took_s = boot_s() - self.began
        await cancel([sampling, *disturbing])
        self.stop_disturbing()
        await self.drain(set.union(*telling))
        await cancel([*workers, *keepers])
        return took_s

    def stop_disturbing(self):
        for part in self.parts:
            part.prober.kill()
            part.prober.wait()
            for daemon in part.daemons:
                daemon.proceed()
        self.stores[0].make_room()
        self.stores[1].wait_until_ready()

    async def drain(self, telling):
        """Everything that was begun comes to its end by itself, but for the runs of probes that failed."""
        print(f"the load has ended; {len(telling)} stories go on to their ends", flush=True)
        if telling:
            _, late = await asyncio.wait(telling, timeout=DRAIN_S)
            for task in late:
                task.cancel()
                self.problems.add("a story did not end", str(task.get_coro()))
        for part in self.parts:
            await stories.wake_some(part.client)
            for _ in range(int(DRAIN_S)):
                left = await asyncio.to_thread(part.store.rows, OPEN_TASKS)
                if not left:
                    break
                for workflow, instance in left:
                    if instance.startswith("probe-"):
                        await part.client.control(workflow, instance, "terminate")
                await asyncio.sleep(1.0)

    async def tell(self):
        while True:
            await asyncio.sleep(30.0)
            counts = ", ".join(f"{part.store.name} {len(part.client.created)} runs" for part in self.parts)
            kills = sum(kind == "kill" for kind, *_ in self.faults.rows)
            problems = sum(count for count, _ in self.problems.kinds.values())
            print(f"{(boot_s() - self.began) / 60:5.1f} min: {counts}; {kills} kills; {problems} problems", flush=True)

    async def watch_itself(self):
        while True:
            due = boot_s() + 0.1
            await asyncio.sleep(0.1)
            self.late_s = max(self.late_s, boot_s() - due)

    def end(self):
        for part in self.parts:
            for daemon in part.daemons:
                if daemon.is_alive:
                    daemon.kill()
            if part.prober is not None and part.prober.poll() is None:
                part.prober.kill()
        for store in self.stores:
            store.end()


async def cancel(tasks):
    """A task that failed by itself is a fault of the soak, and is told."""
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def run(options, folder):
    soak = Soak(options, folder)
    task = asyncio.current_task()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await soak.begin()
        print(f"soaking for {options.minutes:g} minutes; everything goes to {folder}", flush=True)
        took_s = await soak.load()
        await daemon_module.end_in_order(soak.all_daemons(), soak.problems)
        lines = verdict.judge(soak, took_s)
        for store in soak.stores:
            store.copy_to(folder)
    finally:
        soak.end()
    lines.append(f"{took_s / 60:.1f} minutes: " + ("something is wrong" if soak.problems.kinds else "all is well"))
    (folder / "report.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return 1 if soak.problems.kinds else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=8.0, help="runs begun per second on each store (8)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the soak's own choices")
    parser.add_argument("--pawld", type=pathlib.Path, required=True)
    parser.add_argument("--module", type=pathlib.Path, required=True, help="module_soak.c, built")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="where samples, logs and the report go")
    options = parser.parse_args()
    random.seed(options.seed)
    options.folder.mkdir(parents=True, exist_ok=True)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16384), most))
    os.chdir(options.folder)
    try:
        sys.exit(asyncio.run(run(options, options.folder.resolve())))
    except asyncio.CancelledError:
        print("the soak was interrupted; its processes are ended", file=sys.stderr)
        sys.exit(130)


main()
