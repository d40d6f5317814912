#!/usr/bin/env -S python3 -B
"""Proves that the soak's checks can fail: each fault is planted in a world that is otherwise fine, and must be found."""
import csv
import pathlib
import random
import tempfile
import unittest
import xml.etree.ElementTree

import audit
import figures
import plot
import sampler
import slope

HOUR = 3600.0
MIB = 1 << 20


def series(duration_s, per_hour, noise=0.003, level=100.0, seed=1):
    """A sample every 5 seconds that grows by this part of the level in an hour."""
    chance = random.Random(seed)
    return [(at, level * (1 + per_hour * at / HOUR) * (1 + chance.gauss(0, noise)))
            for at in range(0, int(duration_s), 5)]


class Slopes(unittest.TestCase):
    def is_too_much(self, samples, duration_s, **how):
        return slope.is_too_much(slope.growth(samples), duration_s, **how)

    def test_growth_of_five_percent_an_hour_is_found(self):
        for seed in range(20):
            grown = slope.growth(series(HOUR, 0.05, seed=seed))
            self.assertAlmostEqual(grown.per_hour, 0.05, delta=0.01)
            self.assertTrue(slope.is_too_much(grown, HOUR))

    def test_a_flat_figure_is_flat(self):
        for seed in range(20):
            self.assertFalse(self.is_too_much(series(HOUR, 0.0, seed=seed), HOUR))

    def test_what_shrinks_is_not_too_much(self):
        self.assertFalse(self.is_too_much(series(HOUR, -0.5), HOUR))

    def test_the_warm_up_does_not_count(self):
        warm = [(at, min(100.0, 20.0 + at / 10)) for at in range(0, 3600, 5)]
        self.assertFalse(self.is_too_much(warm, HOUR))

    def test_a_few_outliers_do_not_count(self):
        samples = series(HOUR, 0.0)
        for place in range(0, len(samples), 9):
            samples[place] = (samples[place][0], 900.0)
        self.assertFalse(self.is_too_much(samples, HOUR))

    def test_a_short_soak_fails_by_a_large_leak_only(self):
        self.assertFalse(self.is_too_much(series(600, 0.05), 600, floor=2.0))
        self.assertTrue(self.is_too_much(series(600, 3.0), 600, floor=2.0))

    def test_a_noisy_figure_fails_when_all_of_its_interval_is_above(self):
        self.assertFalse(self.is_too_much(series(HOUR, 0.03, noise=0.3), HOUR, noisy=True))
        self.assertTrue(self.is_too_much(series(HOUR, 0.3, noise=0.05), HOUR, noisy=True))

    def test_too_few_samples_say_nothing(self):
        self.assertIsNone(slope.growth(series(30, 1.0)))


class World:
    """One run with a step that completed at 100 s, of which the body took from 99 to 99.5 s; and a ledger's step."""

    def __init__(self):
        self.problems = audit.Problems()
        self.created = {("steps", "r-1"), ("ledger", "r-2")}
        self.instances = [("steps", "r-1", "complete"), ("ledger", "r-2", "complete")]
        self.sent = {("steps", "r-1", "e-1")}
        self.events = [("steps", "r-1", "e-1")]
        self.steps = [audit.Step("steps", "r-1", 1, "body 0", "completed", 100.0),
                      audit.Step("ledger", "r-2", 1, "ledger body 0", "completed", 100.0)]
        self.lines = [line("begin", "steps", "r-1", "body 0", 7, 99.0), line("ok", "steps", "r-1", "body 0", 7, 99.5),
                      line("begin", "ledger", "r-2", "ledger body 0", 7, 99.0),
                      line("ok", "ledger", "r-2", "ledger body 0", 7, 99.5)]
        self.stops = [(8, 60.0, 120.0)]
        self.ledger = [("r-2", 1, "ledger body 0")]
        self.parked = {("listen", "parked-1")}
        self.instances.append(("listen", "parked-1", "waiting"))
        self.allowed = []

    def found(self):
        bodies = audit.read_bodies(self.lines, self.problems)
        audit.check_runs(self.created, self.instances, self.problems)
        audit.check_parked(self.parked, self.instances, self.problems)
        audit.check_events(self.sent, self.events, self.problems)
        self.allowed = audit.check_steps(self.steps, bodies, self.stops, self.problems)
        audit.check_ledger(self.steps, self.ledger, self.problems)
        return list(self.problems.kinds)


def line(word, workflow, instance, step, pid, at_s):
    return f"{word}\t{workflow}\t{instance}\t1\t{step}\t1\t{pid}\t{int(at_s * 1e9)}\n"


class Audits(unittest.TestCase):
    def setUp(self):
        self.world = World()

    def test_nothing_is_found_where_nothing_is_wrong(self):
        self.assertEqual(self.world.found(), [])

    def test_a_body_that_ran_again(self):
        self.world.lines.append(line("begin", "steps", "r-1", "body 0", 9, 101.0))
        self.assertEqual(self.world.found(), ["a body began after its step had ended"])

    def test_one_body_is_allowed_right_after_its_process_went_on(self):
        self.world.lines.append(line("begin", "steps", "r-1", "body 0", 8, 120.001))
        self.assertEqual(self.world.found(), [])
        self.assertEqual(len(self.world.allowed), 1)

    def test_two_bodies_right_after_their_process_went_on_are_not_allowed(self):
        self.world.lines += [line("begin", "steps", "r-1", "body 0", 8, 120.001)] * 2
        self.assertEqual(self.world.found(), ["a body began after its step had ended"])

    def test_a_body_long_after_its_process_went_on_is_not_allowed(self):
        self.world.lines.append(line("begin", "steps", "r-1", "body 0", 8, 121.0))
        self.assertEqual(self.world.found(), ["a body began after its step had ended"])

    def test_two_bodies_before_the_step_completed_are_fine(self):
        self.world.lines.insert(0, line("begin", "steps", "r-1", "body 0", 8, 90.0))
        self.assertEqual(self.world.found(), [])

    def test_a_completed_step_without_a_body(self):
        del self.world.lines[1]
        self.assertEqual(self.world.found(), ["a completed step has no body that ended"])

    def test_a_step_that_completed_before_its_body_ended(self):
        self.world.lines[1] = line("ok", "steps", "r-1", "body 0", 7, 100.5)
        self.assertEqual(self.world.found(), ["a step completed before its body ended"])

    def test_a_cut_line(self):
        self.world.lines.append("begin\tsteps")
        self.assertEqual(self.world.found(), ["a line of the bodies' file is cut"])

    def test_a_lost_run(self):
        del self.world.instances[0]
        self.assertEqual(self.world.found(), ["an acknowledged create is lost"])

    def test_a_run_that_did_not_end(self):
        self.world.instances[0] = ("steps", "r-1", "waiting")
        self.assertEqual(self.world.found(), ["a run did not end"])

    def test_a_parked_run_that_ended_by_itself(self):
        self.world.instances[-1] = ("listen", "parked-1", "errored")
        self.assertEqual(self.world.found(), ["a parked run does not wait any more"])

    def test_a_lost_event(self):
        self.world.events.clear()
        self.assertEqual(self.world.found(), ["an acknowledged event is lost"])

    def test_a_mutation_that_happened_twice(self):
        self.world.ledger *= 2
        self.assertEqual(self.world.found(), ["a mutation did not happen exactly once"])

    def test_a_mutation_that_did_not_happen(self):
        self.world.ledger.clear()
        self.assertEqual(self.world.found(), ["a mutation did not happen exactly once"])

    def test_a_mutation_without_its_step(self):
        self.world.ledger.append(("r-3", 1, "ledger body 0"))
        self.assertEqual(self.world.found(), ["a mutation happened without its step"])

    def test_a_body_beside_an_undisturbed_one_is_counted(self):
        self.world.lines.insert(1, line("begin", "steps", "r-1", "body 0", 8, 99.2))
        bodies = audit.read_bodies(self.world.lines, self.world.problems)
        self.assertEqual(audit.count_overlaps(bodies, {7}), 1)
        self.assertEqual(audit.count_overlaps(bodies, {9}), 0)


class Samples(unittest.TestCase):
    """The whole way from the files to the verdict, for an hour of samples."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.faults = [("full", "sqlite", 0, 1000.0, 1012.0)]
        self.write()

    def table(self, name, columns, rows):
        with open(self.folder / name, "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(columns)
            table.writerows(rows)

    def write(self, memory=0.0, threads=0.0, descriptors=0.0, bytes_per_step=0.0, wal_bytes=MIB, create=0.0,
              cached=MIB, left_over=0, live=None):
        self.table("daemons.csv", sampler.DAEMON_COLUMNS,
                   [[at, "sqlite", "sqlite-0", 1, 7, at, int(kb), int(kb), int(20 * (1 + threads * at / HOUR)),
                     int(30 * (1 + descriptors * at / HOUR)), at // 100, int(left_over * at / HOUR), "", cached, 1000 * int(kb), 0]
                    for at, kb in series(HOUR, memory, level=40_000)] +
                   [[at, "sqlite", "sqlite-1", 0, 8, at % 60, 1000 * (at % 60 + 1), 1, 1, 1, 0, 0, "", "", "", ""]
                    for at in range(0, 3600, 5)])  # a victim grows from each start on, which is not judged
        self.table("stores.csv", sampler.STORE_COLUMNS,
                   [[at, "sqlite", int(10 * (at + 1) * size), wal_bytes, 0, 0, 10 * (at + 1)]
                    for at, size in series(HOUR, bytes_per_step, level=500)])
        self.table("faults.csv", ["kind", "store", "pid", "begin_s", "end_s", "text"],
                   [[*fault, ""] for fault in self.faults])
        with open(self.folder / "latency-sqlite.csv", "w", encoding="utf-8") as file:
            for at, took_ms in series(HOUR, create, noise=0.05, level=2.0):
                in_fault = 1000 <= at <= 1010
                file.write(f"{at:.3f},create,{5000 if in_fault else took_ms:.3f}\n")
            for at, took_ms in series(HOUR, live, noise=0.05, level=2.0) if live is not None else []:
                file.write(f"{at:.3f},live,{took_ms:.3f}\n")

    def wrong(self):
        loaded = figures.load(self.folder, "sqlite", 0.0, HOUR)
        return [figure.name for figure in loaded if figure.problem(HOUR)]

    def test_flat_samples_are_fine(self):
        self.assertEqual(self.wrong(), [])

    def test_memory_that_grows(self):
        self.write(memory=0.05)
        self.assertEqual(self.wrong(), ["memory in use", "resident memory"])

    def test_threads_that_grow(self):
        self.write(threads=1.0)
        self.assertEqual(self.wrong(), ["threads"])

    def test_descriptors_that_leak(self):
        self.write(descriptors=1.0)
        self.assertEqual(self.wrong(), ["descriptors"])

    def test_connections_that_are_not_closed_after_their_clients(self):
        self.write(left_over=40)
        self.assertEqual(self.wrong(), ["connections left over"])

    def test_connections_of_clients_are_told_from_other_descriptors(self):
        tcp = ["0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 11", "1: 0100007F:1F90 0100007F:9C40 01 0:0 0:0 0 0 0 12",
               "2: 0100007F:1F90 0100007F:9C42 08 0:0 0:0 0 0 0 13", "3: 0100007F:9C40 0100007F:1F90 01 0:0 0:0 0 0 0 14"]
        names = ["socket:[11]", "socket:[12]", "socket:[13]", "socket:[14]", "pipe:[15]", "/var/lib/soak.db"]
        self.assertEqual(sampler.descriptor_figures(names, sampler.client_connections(tcp, 8080)),
                         [4, 2, 1, "pipe*1 soak.db*1 socket*2"])

    def test_steps_that_take_ever_more_room(self):
        self.write(bytes_per_step=0.05)
        self.assertEqual(self.wrong(), ["bytes per kept step"])

    def test_a_log_that_is_too_large(self):
        self.write(wal_bytes=figures.WAL_BYTES_MAX + 1)
        self.assertEqual(self.wrong(), ["write-ahead log"])

    def test_a_cache_beyond_its_bound(self):
        self.write(cached=figures.CACHE_BYTES_MAX + MIB)
        self.assertEqual(self.wrong(), ["cache of runs"])

    def test_latencies_that_grow(self):
        self.write(create=2.0)
        self.assertEqual(self.wrong(), ["create p50", "create p99"])

    def test_latencies_that_grow_because_the_machine_slows_down_are_told_apart(self):
        self.write(create=2.0, live=2.0)
        self.assertEqual(self.wrong(), ["live p50", "live p99"])
        self.write(create=2.0, live=0.0)
        self.assertEqual(self.wrong(), ["create p50", "create p99"])

    def test_latencies_during_a_fault_do_not_count(self):
        calm = figures.calm_latencies(self.folder, "sqlite", 0.0)
        self.assertLess(max(took_ms for _, took_ms in calm["create"]), 100)

    def test_recovery_is_measured_from_the_end_of_the_fault(self):
        self.assertEqual([(kind, at, round(wait_s)) for kind, at, wait_s in
                          figures.recoveries(self.folder, "sqlite", 0.0)], [("full", 1012.0, 3)])

    def test_the_plot_is_well_formed_and_has_every_figure(self):
        loaded = figures.load(self.folder, "sqlite", 0.0, HOUR)
        plot.draw(self.folder / "soak.svg", [loaded], self.faults, 0.0, HOUR)
        drawn = xml.etree.ElementTree.parse(self.folder / "soak.svg").getroot()
        self.assertEqual(len(drawn.findall("{http://www.w3.org/2000/svg}g")), len(loaded))


unittest.main()
