"""Idle and hostile clients, one sort after the other, each for a bounded time and in a bounded number, at loopback.

Meanwhile the daemon that they bother must answer /health/live to others: `Hostility.answers` counts."""
import asyncio
import random
import socket

from client import Pool, Unavailable, boot_s
from daemons import CONNECTIONS_MAX

HOLD_S = 12.0
PAUSE_S = 4.0
LIVE_S_MAX = 2.0
MALFORMED = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),
    b"GET\r\n\r\n",
    b"GET /api/health HTTP/9.9\r\n\r\n",
    b"GET /api/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /api/workflows HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 3000 + b"\r\n",
    b"POST /api/workflows/steps/instances HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /api/workflows/steps/instances HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"
    b"{}",
    b"POST /api/workflows/steps/instances HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /api/workflows/steps/instances HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{\"id\": \"\xff",
    b"GET /api/workflows/steps/instances?cursor=%00%ff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /api/jobs/claim HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n[[[[[[[[[[[[[[[[[[[[",
]


class Hostility:
    def __init__(self):
        self.answers = {}  # sort -> [live answers, live questions]


async def connect(port):
    return await asyncio.wait_for(asyncio.open_connection("127.0.0.1", port), 5.0)


async def drop(writer, reset=False):
    if reset:  # closing then sends RST instead of FIN
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    writer.close()


async def one_that_sends(port, data, then=None):
    """Sends this and reads nothing; holds the connection until the time is over or the server closes it."""
    reader, writer = await connect(port)
    try:
        writer.transport.pause_reading()
        until = boot_s() + HOLD_S
        writer.write(data)
        while boot_s() < until and not writer.is_closing():
            if then is not None:
                writer.write(then)
            await asyncio.sleep(0.5)
    finally:
        await drop(writer)


async def idle(port, _client):
    """As many connections as the daemon takes, on which nothing is said."""
    await gather([one_that_sends(port, b"") for _ in range(CONNECTIONS_MAX + 20)])


async def slow_headers(port, _client):
    await gather([one_that_sends(port, b"GET /api/workflows HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", b"a")
                  for _ in range(30)])


async def withheld_bodies(port, _client):
    """All of the body but its last byte, also where no token is needed."""
    size = 1_000_000
    heads = [f"POST /api/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
             f"Content-Length: {size}\r\n\r\n".encode() for path in ("workflows/steps/instances", "deferred/x/succeed")]
    await gather([one_that_sends(port, heads[number % 2] + b'{"params": "' + b"x" * (size - 13))
                  for number in range(24)])


async def malformed(port, _client):
    async def one(data):
        reader, writer = await connect(port)
        try:
            writer.write(data)
            await asyncio.wait_for(reader.read(65536), 2.0)
        finally:
            await drop(writer)
    until = boot_s() + HOLD_S
    while boot_s() < until:
        await gather([one(random.choice(MALFORMED)) for _ in range(5)] +
                     [one(random.randbytes(random.randrange(1, 2000))) for _ in range(5)])
        await asyncio.sleep(0.5)


async def aborted_streams(port, client):
    async def one(workflow, run):
        reader, writer = await connect(port)
        try:
            writer.write(f"GET /api/workflows/{workflow}/instances/{run}/stream HTTP/1.1\r\nHost: localhost\r\n\r\n"
                         .encode())
            await asyncio.wait_for(reader.read(random.randrange(1, 3000)), 2.0)
        finally:
            await drop(writer, reset=True)
    until = boot_s() + HOLD_S
    while boot_s() < until:
        await gather([one(workflow, run) for workflow, run in list(client.newest.items())])
        await asyncio.sleep(0.5)


async def never_reading(port, client):
    """Many pipelined requests for large answers, none of which is read."""
    run = client.newest.get("large", "none")
    ask = f"GET /api/workflows/large/instances/{run}/history HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    await gather([one_that_sends(port, ask * 20) for _ in range(20)])


SORTS = [idle, slow_headers, withheld_bodies, malformed, aborted_streams, never_reading]


async def gather(clients):
    await asyncio.gather(*clients, return_exceptions=True)


async def look_after(daemon, sort, faults, hostility):
    """Asks /health/live twice a second, by a new connection each time."""
    count = hostility.answers.setdefault(sort.__name__, [0, 0])
    await asyncio.sleep(1.0)
    while True:
        pool = Pool(daemon.port)
        begin = boot_s()
        try:
            status, _ = await pool.request("GET", "/health/live", timeout_s=LIVE_S_MAX)
            count[0] += status == 200
            count[1] += 1
        except Unavailable as error:
            count[1] += 1
            faults.note("not live", daemon.store, daemon.pid, begin, boot_s(), f"{sort.__name__}: {error}")
        finally:
            pool.close()
        await asyncio.sleep(0.5)


async def be_hostile(client, steady, faults, hostility):
    """To the steady daemon, whose memory and descriptors are watched."""
    while True:
        for sort in SORTS:
            begin = boot_s()
            looking = asyncio.create_task(look_after(steady, sort, faults, hostility))
            try:
                await sort(steady.port, client)
            finally:
                looking.cancel()
                faults.note(sort.__name__, steady.store, steady.pid, begin, boot_s())
            await asyncio.sleep(PAUSE_S)
