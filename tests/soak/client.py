"""HTTP for the soak: one connection pool per daemon, and a service that asks whichever daemon of a store answers."""
import asyncio
import json
import random
import time


class Unavailable(Exception):
    """No answer, or one that says "not now" (5xx, 429)."""


class Refused(Exception):
    """The server understood and said no."""

    def __init__(self, status, text):
        super().__init__(f"{status} {text[:200]}")
        self.status = status


class GaveUp(Exception):
    """Nobody answered for as long as we were willing to wait."""


def boot_s():
    """The clock of all times in the soak's files.  It goes on while a process is stopped and never jumps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


async def read_head(reader):
    """The status and the headers of an answer, with lower-case names."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if ": " in line)
    return int(head[0].split(" ")[1]), headers


async def read_body(reader, headers):
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    parts = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(parts)


class Pool:
    """Connections to one port of loopback, kept open between requests."""

    IDLE_MAX = 16

    def __init__(self, port):
        self.port = port
        self.idle = []

    async def request(self, method, path, body=None, timeout_s=15.0):
        """(status, value).  A kept connection that the server has closed meanwhile is replaced by a new one."""
        try:
            async with asyncio.timeout(timeout_s):
                while self.idle:
                    try:
                        return await self._ask(self.idle.pop(), method, path, body)
                    except (OSError, EOFError):
                        continue
                return await self._ask(await asyncio.open_connection("127.0.0.1", self.port), method, path, body)
        except (OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError) as error:
            raise Unavailable(f"{type(error).__name__} {error}") from error

    async def _ask(self, connection, method, path, body):
        reader, writer = connection
        keep = False
        try:
            payload = b"" if body is None else json.dumps(body).encode()
            writer.write(f"{method} /api{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                         f"Content-Length: {len(payload)}\r\n\r\n".encode() + payload)
            await writer.drain()
            status, headers = await read_head(reader)
            raw = await read_body(reader, headers)
            keep = headers.get("connection", "") != "close" and len(self.idle) < self.IDLE_MAX
            is_json = headers.get("content-type", "").startswith("application/json")
            return status, json.loads(raw) if is_json and raw else raw.decode()
        finally:
            if keep:
                self.idle.append(connection)
            else:
                writer.close()

    def close(self):
        while self.idle:
            self.idle.pop()[1].close()


class Service:
    """The daemons of one store, as their clients see them: what one does not answer, another is asked."""

    def __init__(self, daemons):
        self.daemons = daemons
        self.unavailable = {}  # text -> how often

    async def ask(self, method, path, body=None, patience_s=240.0, timeout_s=15.0):
        deadline = boot_s() + patience_s
        pause_s = 0.1
        while True:
            daemon = random.choice(self.daemons)
            try:
                status, value = await daemon.pool.request(method, path, body, timeout_s)
                if status < 400:
                    return value
                text = value if isinstance(value, str) else value.get("code", "")
                if status < 500 and status != 429:
                    raise Refused(status, json.dumps(value))
                why = f"{status} {text}"
            except Unavailable as error:
                why = str(error).split(" ", maxsplit=1)[0]
            self.unavailable[why] = self.unavailable.get(why, 0) + 1
            if boot_s() > deadline:
                raise GaveUp(f"{method} {path}: not answered for {patience_s:.0f} s, last by {daemon.name}: {why}")
            await asyncio.sleep(pause_s)
            pause_s = min(2.0, pause_s * 1.5)
