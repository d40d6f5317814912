"""The mixed load.  A story is one client with one run: it creates the run, does something with it, sees it end, and
knows how it should have ended.  What the server has acknowledged is remembered for the audit.

Besides, runs are parked for the whole soak, and a worker carries out the calls."""
import asyncio
import os
import random
import time

from audit import PARKED
from client import GaveUp, Refused, Unavailable, boot_s, read_head

ENDED = ("complete", "errored", "terminated")
LARGE_BYTES = 100_000


class WrongEnd(Exception):
    pass


class Client:
    """What the stories of one store share."""

    def __init__(self, service, prefix, problems):
        self.service = service
        self.prefix = prefix
        self.problems = problems
        self.count = 0
        self.created = set()  # (workflow, instance) that were acknowledged
        self.events = set()  # (workflow, instance, event)
        self.parked = set()  # (workflow, instance) that wait all the time (park())
        self.newest = {}  # workflow -> its newest instance
        self.told = {}  # story -> how many came to their end

    def next_id(self):
        self.count += 1
        return f"{self.prefix}-{self.count}"

    async def create(self, workflow, params=None):
        run = self.next_id()
        body = {"id": run, "onConflict": "return"}
        if params is not None:
            body["params"] = params
        answer = await self.service.ask("POST", f"/workflows/{workflow}/instances", body)
        if answer["id"] != run:
            raise WrongEnd(f"create of {run} answered {answer}")
        self.created.add((workflow, run))
        self.newest[workflow] = run
        return run

    async def create_burst(self, daemon, count):
        """Runs with slow bodies, created at one daemon.  Nobody follows them; the audit sees them end."""
        runs = [{"id": self.next_id(), "params": {"steps": 2, "step": {"ms": 150}}} for _ in range(count)]
        try:
            status, answer = await daemon.pool.request("POST", "/workflows/steps/instances/batch", {"instances": runs})
            if status == 200:
                self.created.update(("steps", made["id"]) for made in answer["instances"])
        except Unavailable:
            pass

    async def send(self, workflow, run, number=0):
        event = f"{run}-{number}"
        await self.service.ask("POST", f"/workflows/{workflow}/instances/{run}/events",
                               {"type": "go", "id": event, "payload": {"number": number}})
        self.events.add((workflow, run, event))

    async def control(self, workflow, run, action, body=None):
        """False: the run had ended already."""
        try:
            await self.service.ask("POST", f"/workflows/{workflow}/instances/{run}/{action}", body)
            return True
        except Refused as refusal:
            if refusal.status != 409:
                raise
            return False

    async def get(self, workflow, run, rest=""):
        return await self.service.ask("GET", f"/workflows/{workflow}/instances/{run}{rest}")

    async def phase(self, workflow, run, *wanted, patience_s=60.0):
        """Waits until the run is in one of these phases, or has ended."""
        deadline = boot_s() + patience_s
        while boot_s() < deadline:
            phase = (await self.get(workflow, run))["details"]["phase"]
            if phase in wanted or phase in ENDED:
                return
            await asyncio.sleep(0.2)

    async def end(self, workflow, run, *wanted, patience_s=300.0):
        """Follows the run to its end by long polls."""
        deadline = boot_s() + patience_s
        while True:
            details = (await self.get(workflow, run, "/result?waitMs=10000"))["details"]
            if details["status"] in ENDED:
                break
            if boot_s() > deadline:
                raise GaveUp(f"{workflow}/{run} is {details} after {patience_s:.0f} s")
        if details["status"] not in wanted:
            raise WrongEnd(f"{workflow}/{run} ended as {details}, and not as {' or '.join(wanted)}")
        return details


async def short(client):
    await client.end("steps", await client.create("steps"), "complete")


async def sleeping(client):
    run = await client.create("nap", {"sleepMs": random.choice([200, 1000, 4000])})
    await client.end("nap", run, "complete")


async def listening(client):
    run = await client.create("listen", {"events": 2})
    for number in range(2):
        await asyncio.sleep(random.random())
        await client.send("listen", run, number)
    await client.end("listen", run, "complete")


async def failing(client):
    unhandled = random.random() < 0.5
    run = await client.create("fails", {"unhandled": unhandled})
    await client.end("fails", run, "errored" if unhandled else "complete")


async def branching(client):
    await client.end("fan", await client.create("fan"), "complete")


async def parenting(client):
    await client.end("family", await client.create("family"), "complete")


async def calling(client):
    await client.end("calls", await client.create("calls", {"number": client.count}), "complete")


async def deferring(client):
    run = await client.create("defers")
    token = None
    while token is None:
        page = await client.get("defers", run, "/history?includeLogs=true&logCategory=soak")
        token = next((line["data"]["token"] for line in page["logs"]), None)
        await asyncio.sleep(0.1)
    await client.service.ask("POST", f"/deferred/{token}/succeed", {"result": {"by": "the soak"}})
    await client.end("defers", run, "complete")


async def processing(client):
    await client.end("process", await client.create("process"), "complete")


async def booking(client):
    await client.end("ledger", await client.create("ledger"), "complete")


async def lugging(client):
    run = await client.create("large", {"text": "x" * LARGE_BYTES})
    await client.end("large", run, "complete")
    await client.get("large", run, "/history?pageSize=100")


async def pausing(client):
    run = await client.create("nap", {"sleepMs": 1000})
    await client.control("nap", run, "pause")
    await client.phase("nap", run, "paused")
    await client.control("nap", run, "resume")
    await client.end("nap", run, "complete")


async def terminating(client):
    run = await client.create("listen")
    await asyncio.sleep(random.random())
    await client.control("listen", run, "terminate")
    await client.end("listen", run, "terminated")


async def restarting(client):
    run = await client.create("nap", {"sleepMs": 2000})
    await asyncio.sleep(random.random())
    await client.control("nap", run, "restart")
    await client.end("nap", run, "complete")


async def interrupting(client):
    """Before or after its steps are done: what is done then is undone."""
    run = await client.create("undone")
    await asyncio.sleep(random.random())
    if random.random() < 0.5:
        await client.control("undone", run, "interrupt")
    else:
        await client.control("undone", run, "terminate", {"rollback": True})
    await client.end("undone", run, "terminated")


async def streaming(client):
    """A longer run that is followed by a stream and read in pages meanwhile."""
    run = await client.create("steps", {"steps": 40})
    watching = asyncio.create_task(watch_stream(random.choice(client.service.daemons).port, "steps", run))
    cursor = ""
    for _ in range(20):
        page = await client.get("steps", run, f"/history?pageSize=10{cursor}")
        cursor = f"&stepsCursor={page['stepsCursor']}" if page.get("stepsCursor") else cursor
        await asyncio.sleep(0.1)
    await client.end("steps", run, "complete")
    await watching


async def watch_stream(port, workflow, run, patience_s=60.0):
    """Reads until the stream ends or its server does."""
    try:
        async with asyncio.timeout(patience_s):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                writer.write(f"GET /api/workflows/{workflow}/instances/{run}/stream HTTP/1.1\r\nHost: localhost\r\n"
                             "Connection: close\r\n\r\n".encode())
                await read_head(reader)
                while b"event: end" not in await reader.readline() and not reader.at_eof():
                    pass
            finally:
                writer.close()
    except (OSError, EOFError, TimeoutError, ValueError, IndexError):
        pass


# How often each is told in a round.  The order within a round is random.
STORIES = {short: 20, sleeping: 12, listening: 10, failing: 6, branching: 5, parenting: 6, calling: 8, deferring: 5,
           processing: 4, booking: 12, lugging: 1, pausing: 4, terminating: 4, restarting: 4, interrupting: 5,
           streaming: 2}
IN_FLIGHT_MAX = 400


async def tell(story, client):
    try:
        await story(client)
        client.told[story.__name__] = client.told.get(story.__name__, 0) + 1
    except (GaveUp, WrongEnd, Refused, Unavailable) as error:
        client.problems.add(f"a story went wrong: {story.__name__}", f"{type(error).__name__}: {error}")


async def tell_stories(client, per_second, until):
    """Begins stories at this rate until the time has come.  Answers those that are still under way."""
    rounds = []
    under_way = set()
    while boot_s() < until:
        if len(under_way) < IN_FLIGHT_MAX:
            if not rounds:
                rounds = [story for story, count in STORIES.items() for _ in range(count)]
                random.shuffle(rounds)
            task = asyncio.create_task(tell(rounds.pop(), client))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        await asyncio.sleep(random.expovariate(per_second))
    return under_way


# Runs that wait for an event during the whole soak.  There are more of them than the cache of recent runs holds, so that it is
# full from the beginning and memory does not grow because of it.  At the end some are woken, and must complete.
PARKED_COUNT = 10_000  # some 2,400 bytes each, and the cache has 16 MiB
PARKED_BATCH = 100
WOKEN = 200
PARKED_PATIENCE_S = 120.0


async def park(client, daemon):
    """Creates them at this daemon, and waits until all of them wait."""
    for first in range(0, PARKED_COUNT, PARKED_BATCH):
        runs = [{"id": f"{PARKED}{number}"} for number in range(first, first + PARKED_BATCH)]
        status, answer = await daemon.pool.request("POST", "/workflows/listen/instances/batch", {"instances": runs})
        if status != 200:
            raise SystemExit(f"runs cannot be parked: {status} {answer}")
        client.parked.update(("listen", run["id"]) for run in runs)
    client.created |= client.parked
    deadline = boot_s() + PARKED_PATIENCE_S
    while True:
        _, status = await daemon.pool.request("GET", "/status?workflow=listen")
        if status["instances"]["waiting"]["count"] >= PARKED_COUNT:
            return
        if boot_s() > deadline:
            raise SystemExit(f"{PARKED_COUNT} runs do not wait after {PARKED_PATIENCE_S:.0f} s: {status}")
        await asyncio.sleep(0.5)


async def wake_some(client):
    woken = random.sample(sorted(client.parked), WOKEN)
    client.parked.difference_update(woken)
    try:
        for workflow, run in woken:
            await client.send(workflow, run)
        for workflow, run in woken:
            await client.end(workflow, run, "complete")
    except (GaveUp, Refused, WrongEnd) as error:
        client.problems.add("a parked run was not woken", str(error))


# The worker: carries out the calls of the workflow "calls" over HTTP, and notes them as bodies do.
LEASE_MS = 5000


def note(path, word, job):
    fields = (word, job["workflowName"], job["instanceId"], job["runNumber"], job["step"], job["attempt"], os.getpid(),
              time.clock_gettime_ns(time.CLOCK_BOOTTIME))
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, ("\t".join(str(field) for field in fields) + "\n").encode())
    os.close(file)


async def carry_out(service, path, job):
    """One job in ten fails at its first attempt.  One in fifty is dropped, as by a worker that died: its lease ends, and
    it is claimed again."""
    note(path, "begin", job)
    await asyncio.sleep(0.01)
    if random.random() < 0.02:
        return
    try:
        if job["attempt"] == 1 and job["data"]["number"] % 10 == 0:
            note(path, "fail", job)
            await service.ask("POST", f"/jobs/{job['token']}/fail", {"name": "NotYet", "message": "as planned"})
        else:
            note(path, "ok", job)
            await service.ask("POST", f"/jobs/{job['token']}/complete", {"result": job["data"]})
    except Refused as refusal:
        if refusal.status != 409:  # 409: another claim has it, which is what leases are for
            raise


async def work(service, path, problems):
    under_way = set()
    while True:
        try:
            answer = await service.ask("POST", "/jobs/claim", {"functions": ["soak.work"], "max": 10,
                                                               "leaseMs": LEASE_MS, "waitMs": 2000})
        except (GaveUp, Refused) as error:
            problems.add("the worker was not served", str(error))
            continue
        for job in answer["jobs"]:
            task = asyncio.create_task(watch(carry_out(service, path, job), problems))
            under_way.add(task)
            task.add_done_callback(under_way.discard)


async def watch(job, problems):
    try:
        await job
    except (GaveUp, Refused) as error:
        problems.add("a job's answer was not taken", str(error))
