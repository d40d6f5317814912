"""Reads the samples of a soak and says which figures must be flat."""
import collections
import csv
import dataclasses

import slope

# Latencies are counted outside these, and not for a while after them: then they tell about the fault.
DISTURBING = ("stop", "full", "crash", "idle")
RECOVERY_S = 5.0
MIB = 1 << 20
LOW = 0.05
WAL_BYTES_MAX = 64 * MIB
RECOVERY_S_MAX = 30.0  # a runner tries a store that was away again after at most 16 s, and a probe takes up to 10 s
CACHE_BYTES_MAX = 16 * MIB  # the runner's default


@dataclasses.dataclass
class Figure:
    store: str
    name: str
    unit: str
    samples: list  # [(seconds since the beginning, value)]
    part: float = 0.5  # which quantile of a block counts
    noisy: bool = False  # moved by the machine's other work as well
    floor: float = 0.0  # growth that a short soak does not judge, in the figure's unit
    grows: bool = False  # by design: only the bound below counts
    most: float = 0.0  # the value is never above this; 0: no such bound

    def growth(self):
        return slope.growth(self.samples, self.part)

    def problem(self, duration_s):
        """What is wrong with it, as a text; or None."""
        grown = self.growth()
        if not self.grows and slope.is_too_much(grown, duration_s, self.noisy, self.floor):
            return (f"{self.store} {self.name}: grows by {grown.per_hour:.1%} an hour (95 %: {grown.low:.1%} to "
                    f"{grown.high:.1%}), by {grown.total:.2f} {self.unit} in this soak")
        highest = max((value for _, value in self.samples), default=0)
        if self.most and highest > self.most:
            return f"{self.store} {self.name}: {highest:.1f} {self.unit}, more than {self.most:.1f}"
        return None


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def disturbances(folder, store, began):
    """[(begin, end)], in seconds since the beginning."""
    return [(float(row["begin_s"]) - began, float(row["end_s"]) - began + RECOVERY_S)
            for row in rows(folder / "faults.csv") if row["store"] == store and row["kind"] in DISTURBING]


def calm_latencies(folder, store, began):
    """kind -> [(time, milliseconds)], without those that fell into a disturbance."""
    rough = disturbances(folder, store, began)
    latencies = collections.defaultdict(list)
    with open(folder / f"latency-{store}.csv", encoding="utf-8") as file:
        for line in file:
            time, kind, took_ms = line.split(",")
            at, ms = float(time) - began, float(took_ms)
            if not any(begin <= at + ms / 1000 and at <= end for begin, end in rough):
                latencies[kind].append((at, ms))
    return latencies


def by_window(samples, width):
    """number of the window -> values."""
    windows = collections.defaultdict(list)
    for at, value in samples:
        windows[int(at / width)].append(value)
    return windows


def machine_speed(live_windows):
    """number of the window -> how much slower the machine was in it than usual, by /health/live, which needs no store."""
    medians = {number: slope.quantile(values, 0.5) for number, values in live_windows.items()}
    usual = slope.quantile(medians.values(), 0.5) if medians else 1.0
    return {number: median / usual for number, median in medians.items()}


def latency_figures(folder, store, began, duration_s):
    """The machine's speed drifts, so latencies that need the store are told as on a machine of the usual speed."""
    width = duration_s * 2 / 3 / slope.block_count(duration_s)  # a window for each block
    latencies = calm_latencies(folder, store, began)
    slower = machine_speed(by_window(latencies.get("live", []), width))
    for kind, samples in latencies.items():
        windows = by_window(samples, width)
        for part, name in ((0.5, "p50"), (0.99, "p99")):
            values = [((number + 0.5) * width,
                       slope.quantile(values, part) / (1.0 if kind == "live" else slower.get(number, 1.0)))
                      for number, values in sorted(windows.items())]
            yield Figure(store, f"{kind} {name}", "ms", values, noisy=True, floor=0.5 if part == 0.5 else 2.0)


def daemon_figures(folder, store):
    table = [row for row in rows(folder / "daemons.csv") if row["store"] == store and row["steady"] == "1"]

    def samples(column, factor=1.0):
        return [(float(row["time_s"]), float(row[column]) * factor) for row in table if row[column]]

    # Parked runs fill the cache of recent runs before the load begins, so all of it must be flat.
    yield Figure(store, "memory in use", "MiB", samples("heap_used_bytes", 1 / MIB), LOW, floor=8.0)
    yield Figure(store, "resident memory", "MiB", samples("rss_kb", 1 / 1024), LOW, floor=8.0)
    yield Figure(store, "cache of runs", "MiB", samples("cached_bytes", 1 / MIB), most=CACHE_BYTES_MAX / MIB,
                 grows=True)
    yield Figure(store, "threads", "", samples("threads"), floor=2.0)
    # The clients decide how many connections there are.  A connection that its client has left must go.
    yield Figure(store, "descriptors", "", samples("descriptors"), floor=4.0)
    yield Figure(store, "connections", "", samples("clients"), grows=True)
    yield Figure(store, "connections left over", "", samples("left_over"), LOW, floor=4.0)


def store_figures(folder, store):
    table = [row for row in rows(folder / "stores.csv") if row["store"] == store and int(row["steps"]) > 0]

    def samples(column, factor=1.0):
        return [(float(row["time_s"]), float(row[column]) * factor) for row in table]

    yield Figure(store, "database", "MiB", samples("database_bytes", 1 / MIB), grows=True)
    # Of what the soak itself added: parked runs are small, and would weigh less and less.
    empty_bytes, empty_steps = int(table[0]["database_bytes"]), int(table[0]["steps"])
    per_step = [(float(row["time_s"]), (int(row["database_bytes"]) - empty_bytes) / (int(row["steps"]) - empty_steps))
                for row in table if int(row["steps"]) > empty_steps]
    yield Figure(store, "bytes per kept step", "B", per_step, floor=50.0)
    if store == "sqlite":
        yield Figure(store, "write-ahead log", "MiB", samples("wal_bytes", 1 / MIB), noisy=True, floor=8.0,
                     most=WAL_BYTES_MAX / MIB)
    else:
        yield Figure(store, "table of tasks", "MiB", samples("task_table_bytes", 1 / MIB), noisy=True, floor=8.0)
        yield Figure(store, "dead rows", "", samples("dead_rows"), grows=True)


def recoveries(folder, store, began):
    """[(kind, time, seconds)]: how long after each full disk or crash the next create was answered.  One that a stopped
    process overlaps is left out, because that process may hold SQLite's lock."""
    faults = [row for row in rows(folder / "faults.csv") if row["store"] == store]
    stops = [(float(row["begin_s"]), float(row["end_s"])) for row in faults if row["kind"] == "stop"]
    with open(folder / f"latency-{store}.csv", encoding="utf-8") as file:
        lines = [line.split(",") for line in file]
    answers = [float(time) + float(took_ms) / 1000 for time, kind, took_ms in lines if kind == "create"]
    for row in faults:
        end = float(row["end_s"])
        answer = next((answer for answer in answers if answer >= end), None)
        if row["kind"] not in ("full", "crash") or answer is None or any(
                begin <= answer and stop_end >= end for begin, stop_end in stops):
            continue
        yield row["kind"], end - began, answer - end


def load(folder, store, began, duration_s):
    return [*daemon_figures(folder, store), *store_figures(folder, store),
            *latency_figures(folder, store, began, duration_s)]
