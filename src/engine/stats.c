/* stats.c - see stats.h.  Also the statistics of the public header.
 *
 * What runs and steps did is counted from the effects of committed units, so refused and failed units do not count. */
#include "engine/stats.h"

#include "base/error.h"
#include "base/limits.h"
#include "engine/engine.h"

/* ---- Distributions --------------------------------------------------------------------------------------------- */

/* The upper limits of all classes but the last, which has none. */
struct classes {
    size_t limit_count;
    double limits[PAWL_CLASSES_MAX - 1];
};

static const struct classes run_classes = {
    15, { 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21600, 86400, 604800, 2592000 }
};
static const struct classes body_classes = {
    14, { 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 600 }
};
static const struct classes unit_classes = { 11, { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, PW_UNITS_PER_COMMIT_MAX } };
static const struct classes commit_classes = {
    14, { 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 10 }
};

static void count(_Atomic int64_t *figure, int64_t by)
{
    atomic_fetch_add_explicit(figure, by, memory_order_relaxed);
}

static int64_t figure_of(const _Atomic int64_t *figure)
{
    return atomic_load_explicit(figure, memory_order_relaxed);
}

static void distribute(struct pw_distribution *distribution, const struct classes *classes, int64_t millionths)
{
    size_t at = 0;
    while (at < classes->limit_count && (double)millionths > classes->limits[at] * PW_MILLIONTHS)
        at++;
    count(&distribution->counts[at], 1);
    count(&distribution->sum_millionths, millionths);
}

static void read_distribution(const struct pw_distribution *from, const struct classes *classes,
                              struct pawl_distribution *to)
{
    to->class_count = classes->limit_count + 1;
    for (size_t i = 0; i < to->class_count; i++) {
        to->counts[i] = figure_of(&from->counts[i]);
        to->limits[i] = i < classes->limit_count ? classes->limits[i] : 0;
    }
    to->sum = (double)figure_of(&from->sum_millionths) / PW_MILLIONTHS;
}

/* ---- Counting -------------------------------------------------------------------------------------------------- */

static void count_end(struct pw_stats *stats, const struct pw_effect *effect)
{
    int64_t started_at_ms = effect->as.end.started_at_ms, completed_at_ms = effect->as.end.completed_at_ms;
    count(&stats->runs_ended[effect->as.end.outcome], 1);
    if (started_at_ms > 0 && completed_at_ms >= started_at_ms) /* unless the clock was set back */
        distribute(&stats->run_seconds, &run_classes, (completed_at_ms - started_at_ms) * 1000);
}

static void count_step(struct pw_stats *stats, const struct pw_step_row *row)
{
    if (row->status != PAWL_STEP_WAITING)
        count(&stats->steps_ended[row->status], 1);
    else if (row->kind == PAWL_STEP_DO && row->attempts > 0)
        count(&stats->attempts_failed, 1);
}

/* Jobs are not counted as runs. */
static void count_effect(struct pw_stats *stats, const struct pw_effect *effect)
{
    switch (effect->kind) {
    case PW_EFFECT_BEGUN:
        count(&stats->runs_created, !effect->is_job);
        break;
    case PW_EFFECT_ENDED:
        if (!effect->is_job)
            count_end(stats, effect);
        break;
    case PW_EFFECT_EVENT:
        count(&stats->events_sent, !effect->as.event.is_answer);
        break;
    case PW_EFFECT_STEP:
        count_step(stats, effect->as.step);
        break;
    case PW_EFFECT_PARKED:
    case PW_EFFECT_HELD:
    case PW_EFFECT_WOKEN:
    case PW_EFFECT_CHANGED:
        break;
    }
}

void pw_stats_batch(struct pw_stats *stats, struct pw_unit **units, size_t unit_count, pawl_status whole,
                    int64_t took_us)
{
    distribute(&stats->commit_seconds, &commit_classes, took_us);
    if (whole != PAWL_OK) {
        count(&stats->commits_failed, 1);
        atomic_store_explicit(&stats->last_commit_failure, (int)whole, memory_order_relaxed);
        return;
    }
    count(&stats->commits, 1);
    distribute(&stats->units, &unit_classes, (int64_t)unit_count * PW_MILLIONTHS);
    for (size_t i = 0; i < unit_count; i++) {
        const struct pw_effect *effect = units[i]->status == PAWL_OK ? units[i]->effects : NULL;
        for (; effect != NULL; effect = effect->next)
            count_effect(stats, effect);
    }
}

void pw_stats_body(struct pw_stats *stats, int64_t took_us)
{
    distribute(&stats->body_seconds, &body_classes, took_us);
}

void pw_stats_lease_lost(struct pw_stats *stats)
{
    count(&stats->leases_lost, 1);
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

/* Copies as much as the caller's header knew.  Members that only a newer header knows are zero. */
static void hand_out(void *out, size_t out_size, void *known, size_t known_size)
{
    memcpy(known, &out_size, sizeof out_size);
    memset(out, 0, out_size);
    memcpy(out, known, out_size < known_size ? out_size : known_size);
}

void pawl_stats_read(pawl_engine *engine, struct pawl_stats *out_stats)
{
    const struct pw_stats *from = &engine->stats;
    struct pawl_stats stats = { .runs_created = figure_of(&from->runs_created),
                                .runs_complete = figure_of(&from->runs_ended[PW_OUTCOME_COMPLETE]),
                                .runs_errored = figure_of(&from->runs_ended[PW_OUTCOME_ERRORED]),
                                .runs_terminated = figure_of(&from->runs_ended[PW_OUTCOME_TERMINATED]),
                                .steps_completed = figure_of(&from->steps_ended[PAWL_STEP_COMPLETED]),
                                .steps_errored = figure_of(&from->steps_ended[PAWL_STEP_ERRORED]),
                                .attempts_failed = figure_of(&from->attempts_failed),
                                .events_sent = figure_of(&from->events_sent),
                                .leases_lost = figure_of(&from->leases_lost),
                                .commits = figure_of(&from->commits),
                                .commits_failed = figure_of(&from->commits_failed),
                                .last_commit_failure =
                                    (pawl_status)atomic_load_explicit(&from->last_commit_failure, memory_order_relaxed),
                                .memory_bytes_max = engine->memory.max,
                                .memory_bytes_held = figure_of(&engine->memory.held),
                                .memory_refusals = figure_of(&engine->memory.refused) };
    read_distribution(&from->run_seconds, &run_classes, &stats.run_seconds);
    read_distribution(&from->body_seconds, &body_classes, &stats.body_seconds);
    read_distribution(&from->units, &unit_classes, &stats.units);
    read_distribution(&from->commit_seconds, &commit_classes, &stats.commit_seconds);
    hand_out(out_stats, out_stats->struct_size, &stats, sizeof stats);
}

pawl_status pawl_backlog_read(pawl_engine *engine, struct pawl_backlog *out_backlog, struct pawl_error *error)
{
    if (engine == NULL || out_backlog == NULL || out_backlog->struct_size < sizeof out_backlog->struct_size)
        return pw_error(error, PAWL_INVALID, "pawl_backlog_read needs an engine, and a backlog with its struct_size");
    struct pw_store *store = engine->store;
    const struct pw_read asked = { .kind = PW_READ_TASK_COUNTS, .now_ms = store->ops->now_ms(store) };
    struct pw_found found;
    PAWL_TRY(pw_read(store, &asked, NULL, &found, error));
    const struct pw_task_counts counts = found.tasks;
    struct pawl_backlog backlog = { .active = counts.active,
                                    .waiting = counts.waiting,
                                    .paused = counts.paused,
                                    .due = counts.due,
                                    .oldest_due_at_ms = counts.oldest_due_at_ms,
                                    .deliveries_pending = counts.hooks_pending,
                                    .deliveries_failed = counts.hooks_failed };
    hand_out(out_backlog, out_backlog->struct_size, &backlog, sizeof backlog);
    return PAWL_OK;
}
