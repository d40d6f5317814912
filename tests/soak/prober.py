"""Measures latencies at one daemon from a process of its own, so that the load's own work is not measured.

    prober.py PORT FILE PREFIX

appends a line "boot seconds,kind,milliseconds" to the file for each request that was answered: live, create, event,
result (from the acknowledged event to the end of the run, one step later).  A run whose probe failed stays open; the soak
terminates it at the end."""
import http.client
import json
import sys
import time

PERIOD_S = 0.5
TIMEOUT_S = 20.0


class Prober:
    def __init__(self, port, file, prefix):
        self.port, self.file, self.prefix = port, file, prefix
        self.connection = None
        self.count = 0

    def ask(self, kind, method, path, body=None):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        begin = time.clock_gettime(time.CLOCK_BOOTTIME)
        self.connection.request(method, "/api" + path, None if body is None else json.dumps(body),
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        took_ms = (time.clock_gettime(time.CLOCK_BOOTTIME) - begin) * 1000
        if answer.status != 200:
            raise ValueError(f"{answer.status} {text[:100]}")
        self.file.write(f"{begin:.3f},{kind},{took_ms:.3f}\n")

    def probe(self):
        self.count += 1
        path = f"/workflows/listen/instances/{self.prefix}-{self.count}"
        self.ask("live", "GET", "/health/live")
        self.ask("create", "POST", "/workflows/listen/instances", {"id": f"{self.prefix}-{self.count}"})
        time.sleep(0.1)  # so that the run waits when the event comes
        self.ask("event", "POST", path + "/events", {"type": "go", "id": f"{self.prefix}-{self.count}"})
        self.ask("result", "GET", path + "/result?waitMs=10000")

    def run(self):
        while True:
            try:
                self.probe()
            except (OSError, ValueError, http.client.HTTPException):
                if self.connection is not None:
                    self.connection.close()
                self.connection = None
            self.file.flush()
            time.sleep(PERIOD_S)


def main():
    port, path, prefix = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    with open(path, "a", encoding="utf-8") as file:
        Prober(port, file, prefix).run()


main()
