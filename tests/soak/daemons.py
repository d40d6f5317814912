"""The pawld processes of the soak.  One of each store is steady: nobody kills or stops it, so its memory, threads and
descriptors tell about growth.  The others are the victims."""
import asyncio
import json
import os
import signal
import socket
import subprocess

from client import Pool, Unavailable, boot_s

# No process of the soak outlives it, even if it is killed: the kernel kills them.
LEASH = ["setpriv", "--pdeathsig", "KILL"]
CONNECTIONS_MAX = 512


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Daemon:
    def __init__(self, program, module, store, number, folder):
        self.name = f"{store.name}-{number}"
        self.store = store
        self.is_steady = number == 0
        self.port = free_port()
        self.pool = Pool(self.port)
        self.process = None
        self.started_at = 0.0
        self.starts = 0
        self.is_stopped = False  # by SIGSTOP
        self.is_expected_to_end = False
        self.folder = folder
        self.heap = folder / f"heap-{self.name}"
        self.environment = dict(os.environ, SOAK_BODIES=str(folder / f"bodies-{store.name}"), SOAK_HEAP=str(self.heap))
        self.config = folder / f"{self.name}.json"
        self.config.write_text(json.dumps({
            "store": store.url, "listen": f"127.0.0.1:{self.port}", "modules": [str(module)], "log": "json",
            "drainMs": 20000, "limits": {"connections": CONNECTIONS_MAX}}))
        self.command = LEASH + [str(program), "--config", str(self.config)]

    def start(self):
        with open(self.folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment, cwd=self.folder)
        self.started_at = boot_s()
        self.starts += 1
        self.is_stopped = self.is_expected_to_end = False

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.is_alive:
            self.process.send_signal(number)

    def kill(self):
        self.is_expected_to_end = True
        self.signal(signal.SIGKILL)
        self.process.wait()
        self.pool.close()

    def stop(self):
        self.is_stopped = True
        self.signal(signal.SIGSTOP)

    def proceed(self):
        self.signal(signal.SIGCONT)
        self.is_stopped = False

    async def is_live(self):
        try:
            status, _ = await self.pool.request("GET", "/health/live", timeout_s=2.0)
            return status == 200
        except Unavailable:
            return False

    async def wait_until_live(self, patience_s=30.0):
        deadline = boot_s() + patience_s
        while not await self.is_live():
            if boot_s() > deadline:
                return False
            await asyncio.sleep(0.1)
        return True


async def keep_alive(daemons, faults, problems):
    """Starts again what has ended.  One that ended by itself is a problem, unless its store was away: a pawld that
    cannot open its store says so and exits with 1."""
    while True:
        await asyncio.sleep(0.2)
        for daemon in daemons:
            if daemon.is_alive or daemon.is_expected_to_end:
                continue
            code = daemon.process.returncode
            excused = code == 1 and faults.store_was_away(daemon.store, daemon.started_at, boot_s())
            faults.note("ended", daemon.store, daemon.pid, boot_s(), boot_s(), f"{daemon.name} with {code}")
            if not excused:
                problems.add("a daemon ended by itself", f"{daemon.name} (process {daemon.pid}) with {code}")
            daemon.pool.close()
            daemon.start()
            await asyncio.sleep(0.5)


async def end_in_order(daemons, problems, patience_s=40.0):
    """SIGTERM drains: every daemon ends by itself and says 0."""
    for daemon in daemons:
        daemon.is_expected_to_end = True
        daemon.pool.close()
        daemon.signal(signal.SIGTERM)
    deadline = boot_s() + patience_s
    for daemon in daemons:
        while daemon.is_alive and boot_s() < deadline:
            await asyncio.sleep(0.1)
        if daemon.process.poll() != 0:
            problems.add("a daemon did not stop in order", f"{daemon.name}: {daemon.process.returncode}")
