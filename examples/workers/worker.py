#!/usr/bin/env python3
"""A worker in Python: carries out calls of workflows (pawl_call) over HTTP.  It needs nothing but Python 3.8.

    python3 worker.py                                        # at http://127.0.0.1:7295/api
    PAWL_BASE_URL=https://pawl.example.org/api PAWL_TOKEN=... python3 worker.py

Copy it, or import it from a file that has functions of your own:

    import worker

    @worker.function("charge")
    def charge(data, job):
        return {"receipt": bank.charge(data["amount"], key=job["instanceId"] + "/" + job["step"])}

    worker.main()

A call may be carried out more than once: if a worker dies, is too slow, or fails.  Instance and step are the same each
time, so together they make a good key for effects that must happen only once.  A worker does one job at a time.  Start
as many workers as you like.
"""
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

LEASE_MS = int(os.environ.get("PAWL_LEASE_MS", "30000"))  # a dead worker is noticed after this time
WAIT_MS = 20000  # how long the server may keep a claim waiting for a job
PAUSE_MAX_S = 30

functions = {}


def function(name):
    """Makes the function below carry out calls of this name.  It gets the call's data, or None, and the job.  It returns
    the result, or None."""
    def register(run):
        functions[name] = run
        return run
    return register


class Failure(Exception):
    """Raised by a function to say how it failed and whether a retry may help.  Any other exception is retried."""

    def __init__(self, name, message="", retry=True):
        super().__init__(message)
        self.name, self.retry = name, retry


class Away(Exception):
    """The server did not answer, or asks to try again later."""


class Refused(Exception):
    """The server refuses the request."""

    def __init__(self, status, text):
        super().__init__(f"{status} {text}")
        self.is_gone = status == 409  # the job is no longer ours


class Server:
    def __init__(self, base_url, token):
        self.base_url = base_url.rstrip("/")
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def post(self, path, body, wait_s=0.0):
        request = urllib.request.Request(self.base_url + path, json.dumps(body).encode(), self.headers)
        try:
            with urllib.request.urlopen(request, timeout=wait_s + 10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            if error.code == 429 or error.code >= 500:
                raise Away(text) from error
            raise Refused(error.code, text) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Away(error) from error


class Worker:
    def __init__(self, server):
        self.server = server
        self.is_claiming = self.is_stopping = False

    def stop(self, *_):
        """Stops waiting for a job at once.  A job under way is finished and reported first."""
        self.is_stopping = True
        if self.is_claiming:
            raise SystemExit

    def ask(self, path, body, wait_s=0.0):
        """Repeats the request until the server answers, with growing pauses."""
        pause_s = 0.25
        while True:
            try:
                return self.server.post(path, body, wait_s)
            except Away as error:
                print(f"the server is away: {error}", file=sys.stderr, flush=True)
            if self.is_stopping:
                raise SystemExit
            time.sleep(pause_s * random.uniform(0.5, 1))
            pause_s = min(pause_s * 2, PAUSE_MAX_S)

    def claim(self):
        request = {"functions": sorted(functions), "leaseMs": LEASE_MS, "waitMs": WAIT_MS}
        self.is_claiming = True
        try:
            return self.ask("/jobs/claim", request, WAIT_MS / 1000)["jobs"]
        finally:
            self.is_claiming = False

    def keep(self, job, ended):
        """Renews the lease until the job has ended or is lost.  Long functions may check job["gone"].is_set()."""
        while not ended.wait(LEASE_MS / 3000):
            try:
                self.server.post(f"/jobs/{job['token']}/heartbeat", {"leaseMs": LEASE_MS})
            except Away:
                continue  # the lease lasts for another try or two
            except Refused:
                job["gone"].set()
                return

    @staticmethod
    def carry_out(job):
        """Runs the function.  Returns the route that reports its outcome, and the body for it."""
        try:
            result = functions[job["function"]](job.get("data"), job)
            json.dumps(result)  # a result that is not JSON fails the function
            return "complete", {} if result is None else {"result": result}
        except Failure as failure:
            return "fail", {"name": failure.name, "message": str(failure), "retry": failure.retry}
        except Exception as error:
            return "fail", {"name": type(error).__name__, "message": str(error)}

    def answer(self, job, route, body):
        try:
            self.ask(f"/jobs/{job['token']}/{route}", body)
        except Refused as refusal:
            print(f"{route}: {refusal}", file=sys.stderr, flush=True)
            if route == "complete" and not refusal.is_gone:
                self.answer(job, "fail", {"name": "ResultRefused", "message": str(refusal), "retry": False})

    def work(self, job):
        print(f"{job['function']} for {job['instanceId']}, attempt {job['attempt']}", flush=True)
        ended, job["gone"] = threading.Event(), threading.Event()
        threading.Thread(target=self.keep, args=(job, ended), daemon=True).start()
        try:
            self.answer(job, *self.carry_out(job))
        finally:
            ended.set()

    def run(self):
        while not self.is_stopping:
            for job in self.claim():
                self.work(job)


def main():
    worker = Worker(Server(os.environ.get("PAWL_BASE_URL", "http://127.0.0.1:7295/api"), os.environ.get("PAWL_TOKEN")))
    signal.signal(signal.SIGTERM, worker.stop)
    signal.signal(signal.SIGINT, worker.stop)
    try:
        worker.run()
    except Refused as refusal:
        sys.exit(f"the server gives no jobs: {refusal}")


@function("text.count")
def count_words(data, job):
    if not isinstance(data.get("text"), str):
        raise Failure("NoText", "there is nothing to count", retry=False)
    return {"words": len(data["text"].split())}


if __name__ == "__main__":
    main()
