"""Runs that wait for an event during the whole soak.  There are more of them than the cache of recent runs holds, so that
it is full from the beginning and memory does not grow because of it.  At the end some are woken, and must complete."""
import asyncio
import random

from audit import PARKED
from client import GaveUp, Refused, boot_s
from stories import WrongEnd

COUNT = 10_000  # some 2,400 bytes each, and the cache has 16 MiB
BATCH = 100
WOKEN = 200
PATIENCE_S = 120.0


async def park(client, daemon):
    """Creates them at this daemon, and waits until all of them wait."""
    for first in range(0, COUNT, BATCH):
        runs = [{"id": f"{PARKED}{number}"} for number in range(first, first + BATCH)]
        status, answer = await daemon.pool.request("POST", "/workflows/listen/instances/batch", {"instances": runs})
        if status != 200:
            raise SystemExit(f"runs cannot be parked: {status} {answer}")
        client.parked.update(("listen", run["id"]) for run in runs)
    client.created |= client.parked
    deadline = boot_s() + PATIENCE_S
    while True:
        _, status = await daemon.pool.request("GET", "/status?workflow=listen")
        if status["instances"]["waiting"]["count"] >= COUNT:
            return
        if boot_s() > deadline:
            raise SystemExit(f"{COUNT} runs do not wait after {PATIENCE_S:.0f} s: {status}")
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
