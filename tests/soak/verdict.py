"""Judges a soak that has ended: the stores against the notes of clients and bodies, the figures, the plot, the report."""
import audit
import figures
import hostile
import plot
import stories

EFFECT_MINUTES = 4.0  # a soak of so many minutes has done everything at least once


def compare(part, soak):
    """The store against the clients' and the bodies' own notes.  Answers lines for the report."""
    problems, store = soak.problems, part.store
    offset = soak.offset
    steps = [audit.Step(workflow, instance, int(run), name, status, audit.seconds_of(updated) - offset)
             for workflow, instance, run, name, status, updated in
             store.rows("SELECT workflow, id, run, name, status, updated_at FROM workflow_steps")]
    instances = store.rows("SELECT workflow, id, status FROM workflow_instances")
    events = store.rows("SELECT workflow, instance_id, id FROM workflow_events")
    ledger = [(instance, int(run), step) for instance, run, step in
              store.rows("SELECT instance, run, step FROM soak_ledger")]
    with open(part.bodies, encoding="utf-8") as lines:
        bodies = audit.read_bodies(lines, problems)
    stops = [(pid, begin, end) for kind, name, pid, begin, end in soak.faults.rows
             if kind == "stop" and name == store.name]
    drift_s = abs(audit.wall_minus_boot() - soak.offset)
    audit.check_runs(part.client.created, instances, problems)
    audit.check_parked(part.client.parked, instances, problems)
    audit.check_events(part.client.events, events, problems)
    allowed = audit.check_steps(steps, bodies, stops, problems, drift_s)
    audit.check_ledger(steps, ledger, problems)
    begun = sum(body.word == "begin" for lines in bodies.values() for body in lines)
    overlaps = audit.count_overlaps(bodies, {part.daemons[0].pid})
    yield (f"{store.name}: {len(part.client.created)} creates and {len(part.client.events)} events acknowledged, "
           f"{len(instances)} instances, {len(steps)} steps, {begun} bodies, {len(ledger)} mutations; "
           f"{overlaps} bodies began while an undisturbed process was at the same step")
    yield from (f"    inside the window that the README names: {text}" for text in allowed)


def check_effect(part, counts, soak):
    """A soak that did nothing proves nothing."""
    away = "full" if part.store.name == "sqlite" else "crash"
    missing = [kind for kind in ("kill", "stop", away) if kind not in counts]
    missing += [story.__name__ for story in stories.STORIES if story.__name__ not in part.client.told]
    missing += [sort.__name__ for sort in hostile.SORTS if sort.__name__ not in counts]
    if not any(why.startswith("503") for why in part.service.unavailable):
        missing.append("503 while the store was away")
    if missing and soak.options.minutes >= EFFECT_MINUTES:
        soak.problems.add("something never happened", f"{part.store.name}: {', '.join(missing)}")


def check_recovery(part, soak):
    waits = list(figures.recoveries(soak.folder, part.store.name, soak.began))
    for kind, at, wait_s in waits:
        if wait_s > figures.RECOVERY_S_MAX:
            soak.problems.add("a store did not recover in time",
                              f"{part.store.name}: {wait_s:.1f} s after \"{kind}\" at {at:.0f} s")
    if waits:
        yield f"    creates were answered again {max(wait_s for _, _, wait_s in waits):.1f} s after a fault at most"


def report(part, soak):
    counts = {}
    for kind, name, *_ in soak.faults.rows:
        if name == part.store.name:
            counts[kind] = counts.get(kind, 0) + 1
    check_effect(part, counts, soak)
    yield f"{part.store.name}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    yield "    refused or unanswered meanwhile: " + (", ".join(
        f"{why} {count}" for why, count in sorted(part.service.unavailable.items())) or "none")
    yield from check_recovery(part, soak)
    yield "    stories: " + ", ".join(f"{name} {count}" for name, count in sorted(part.client.told.items()))
    for sort, (answers, questions) in part.hostility.answers.items():
        if answers < questions:
            soak.problems.add("a daemon did not answer /health/live to others beside hostile clients",
                              f"{part.store.name}, {sort}: {answers} of {questions} within {hostile.LIVE_S_MAX} s")


def judge(soak, took_s):
    """Figures, plot and verdict: the lines of the report, and whether all is well."""
    lines = []
    columns = [figures.load(soak.folder, part.store.name, soak.began, took_s) for part in soak.parts]
    plot.draw(soak.folder / "soak.svg", columns, soak.faults.rows, soak.began, took_s)
    for part, column in zip(soak.parts, columns):
        lines += [*report(part, soak), *compare(part, soak)]
        for figure in column:
            grown = figure.growth()
            if grown is None:
                lines.append(f"    {figure.name:22} too few samples")
                continue
            lines.append(f"    {figure.name:22} {grown.median:9.2f} {figure.unit:4} {grown.per_hour:+8.1%} an hour "
                         f"(95 %: {grown.low:+.1%} to {grown.high:+.1%})")
            problem = figure.problem(took_s)
            if problem:
                soak.problems.add("a figure is not flat", problem)
    lines.append(f"the soak's own loop was late by {soak.late_s:.2f} s at most")
    return lines + [*soak.problems.lines()]
