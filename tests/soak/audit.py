"""Compares what the clients were told, what the bodies wrote outside the store, and the history.  Rows go in, problems
come out, so that the self-test can plant what must be found.

A step's body is noted if and only if the step's name contains "body" (module_soak.c)."""
import collections
import datetime
import time

ENDED = ("complete", "errored", "terminated")
PARKED = "parked-"  # how the ids of runs begin that wait all the time
EXAMPLES_MAX = 5
# History has milliseconds; a shell's body has hundredths of a second.
SLACK_S = 0.03
# A body that begins so soon after its own process was continued may have passed its check before the process was
# stopped.  The README leaves that open.  It is a window of microseconds, so more than one of these is another fault.
WINDOW_S = 0.1
WINDOW_BODIES_MAX = 1


def wall_minus_boot():
    """History has wall time, bodies have the boot clock; on one machine they differ by this."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)


class Problems:
    """What is wrong, by kind: how often, and a few examples."""

    def __init__(self):
        self.kinds = {}

    def add(self, kind, example):
        count, examples = self.kinds.get(kind, (0, []))
        if len(examples) < EXAMPLES_MAX:
            examples.append(example)
        self.kinds[kind] = (count + 1, examples)

    def lines(self):
        for kind, (count, examples) in sorted(self.kinds.items()):
            yield f"{kind}: {count}"
            for example in examples:
                yield f"    {example}"


Body = collections.namedtuple("Body", "word attempt pid at_s")
Step = collections.namedtuple("Step", "workflow instance run name status updated_s")


def read_bodies(lines, problems):
    """(workflow, instance, run, step) -> its bodies, in the order of the file.  Each line is one write, so one that is cut
    is a problem."""
    bodies = collections.defaultdict(list)
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) != 8 or not line.endswith("\n"):
            problems.add("a line of the bodies' file is cut", repr(line))
            continue
        word, workflow, instance, run, step, attempt, pid, nanoseconds = fields
        bodies[workflow, instance, int(run), step].append(Body(word, int(attempt), int(pid), int(nanoseconds) / 1e9))
    return bodies


def seconds_of(text):
    """Of the ISO time that the views show."""
    return datetime.datetime.fromisoformat(text).timestamp()


def check_runs(created, instances, problems):
    """`instances`: rows of (workflow, id, status), all of them.  Parked runs are not meant to end."""
    there = set()
    for workflow, instance, status in instances:
        there.add((workflow, instance))
        if status not in ENDED and not instance.startswith(PARKED):
            problems.add("a run did not end", f"{workflow}/{instance} is {status}")
    for workflow, instance in sorted(created - there):
        problems.add("an acknowledged create is lost", f"{workflow}/{instance}")


def check_parked(parked, instances, problems):
    """Runs that nobody woke wait still."""
    waiting = {(workflow, instance) for workflow, instance, status in instances if status == "waiting"}
    for workflow, instance in sorted(parked - waiting):
        problems.add("a parked run does not wait any more", f"{workflow}/{instance}")


def check_events(sent, events, problems):
    """`events`: rows of (workflow, instance, event id)."""
    for event in sorted(sent - set(events)):
        problems.add("an acknowledged event is lost", "/".join(event))


def check_completed(step, bodies, problems):
    """Before a step is recorded as completed, a body of it has succeeded."""
    name = f"{step.workflow}/{step.instance} run {step.run} \"{step.name}\""
    if not any(body.word == "ok" for body in bodies):
        problems.add("a completed step has no body that ended", f"{name}: {len(bodies)} lines")
    elif min(body.at_s for body in bodies if body.word == "ok") > step.updated_s + SLACK_S:
        problems.add("a step completed before its body ended", name)


def late_bodies(step, bodies, slack_s):
    return [body for body in bodies if body.word == "begin" and body.at_s > step.updated_s + slack_s]


def is_in_window(body, stops):
    """`stops`: (pid, begin, end) of the processes that were stopped."""
    return any(pid == body.pid and end <= body.at_s <= end + WINDOW_S for pid, _, end in stops)


def check_steps(steps, bodies, stops, problems, drift_s=0.0):
    """`drift_s`: by how much the wall clock moved against the boot clock during the soak.  Answers the late bodies that
    the README allows, as texts."""
    allowed = []
    for step in steps:
        if "body" not in step.name or step.status == "waiting":
            continue
        lines = bodies.get((step.workflow, step.instance, step.run, step.name), [])
        if step.status == "completed":
            check_completed(step, lines, problems)
        for body in late_bodies(step, lines, SLACK_S + drift_s):
            text = (f"{step.workflow}/{step.instance} run {step.run} \"{step.name}\" was {step.status}; its body began "
                    f"{body.at_s - step.updated_s:.3f} s later in process {body.pid}")
            if is_in_window(body, stops) and len(allowed) < WINDOW_BODIES_MAX:
                allowed.append(text)
            else:
                problems.add("a body began after its step had ended", text)
    return allowed


def check_ledger(steps, ledger, problems):
    """`ledger`: rows of (instance, run, step).  One row for each completed step that writes one, and no other row."""
    rows = collections.Counter(ledger)
    for step in steps:
        if "ledger" not in step.name:
            continue
        wanted = 1 if step.status == "completed" else 0
        found = rows.pop((step.instance, step.run, step.name), 0)
        if found != wanted:
            problems.add("a mutation did not happen exactly once",
                         f"{step.workflow}/{step.instance} \"{step.name}\" is {step.status}, and wrote {found} rows")
    for row in rows:
        problems.add("a mutation happened without its step", str(row))


def count_overlaps(bodies, undisturbed):
    """How often a body began elsewhere while one of its step was under way in a process that was neither killed nor
    stopped: that process had lost its lease.  Bodies run at least once, so this is told and not judged."""
    overlaps = 0
    for lines in bodies.values():
        open_in = set()
        for body in sorted(lines, key=lambda line: line.at_s):
            if body.word != "begin":
                open_in.discard(body.pid)
                continue
            overlaps += bool(open_in - {body.pid})
            if body.pid in undisturbed:
                open_in.add(body.pid)
    return overlaps
