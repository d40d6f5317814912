"""The soak's worker: carries out the calls of the workflow "calls" over HTTP, and notes them as bodies do."""
import asyncio
import os
import random
import time

from client import GaveUp, Refused

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
