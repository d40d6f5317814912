/* sweep_play.c - plays the script of a sweep in a world of its own: create, run, send events at their times, run to
 * the end.
 *
 * If the process dies in between, the next one begins.  It finds the lease of the dead process ended, as with a
 * store that can tell which processes are dead, so time passes as in the undisturbed play.  A call that was refused
 * is made again. */
#include <stdio.h>

#include "common/duration.h"
#include "base/error.h"
#include "base/limits.h"
#include "testing/sweep.h"
#include "value/value.h"

enum { LATER_MS = 25 * 60 * 60 * 1000 }; /* a different hour of a different day */

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static pawl_status register_all(const struct pw_sweep_play *play, struct pawl_error *error)
{
    const struct pawl_sweep_options *options = play->options;
    if (options->module != NULL)
        PAWL_TRY(pawl_register_module(play->world->engine, options->module, error));
    for (size_t i = 0; i < options->workflow_count; i++)
        PAWL_TRY(pawl_register(play->world->engine, &options->workflows[i], error));
    return options->setup != NULL ? options->setup(play->world, options->user, error) : PAWL_OK;
}

static pawl_status open_world(struct pw_sweep_play *play, struct pawl_error *error)
{
    struct pawl_world_options world = PAWL_WORLD_OPTIONS_INIT;
    world.seed = play->options->seed;
    world.limits = play->options->limits;
    world.always_replay = play->of.replays;
    PAWL_TRY(pawl_world_open(&world, &play->world, error));
    pw_sweep_watch_init(&play->watch, play);
    play->world->turns_max = play->options->turns_max;
    play->crash = pw_sweep_crash_insert(play->world, &play->watch);
    if (play->crash == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    PAWL_TRY(register_all(play, error));
    play->crash->crash_at = play->of.crash_at;
    play->crash->after = play->of.after;
    play->crash->counting = true;
    return pw_sweep_watch_begin(&play->watch) ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
}

void pw_sweep_play_free(struct pw_sweep_play *play)
{
    if (play->world == NULL)
        return;
    pawl_world_close(play->world); /* first, because its store uses the watch */
    pw_sweep_watch_free(&play->watch);
}

/* ---- Dying and beginning again ----------------------------------------------------------------------------------- */

static pawl_status end_lease(const struct pw_sweep_play *play, struct pawl_error *error)
{
    struct pw_lease lease = { .fence = play->crash->held };
    struct pw_op op = { .kind = PW_OP_RENEW,
                        .as.renew = { .owner = play->crash->owner, .leases = &lease, .count = 1 } };
    return pw_world_apply(play->world, &op, error);
}

/* The author's process is gone: lets the caller reset what was in its memory. */
static void forget(const struct pw_sweep_play *play)
{
    if (play->options->crashed != NULL)
        play->options->crashed(play->options->user);
}

static pawl_status begin_again(struct pw_sweep_play *play, struct pawl_error *error)
{
    struct pawl_runner_options runner = PAWL_RUNNER_OPTIONS_INIT;
    runner.always_replay = play->of.replays;
    pawl_runner_close(play->world->runner);
    play->world->runner = NULL;
    play->crash->dead = false;
    forget(play);
    if (play->of.later)
        pawl_world_jump_ms(play->world, LATER_MS);
    if (play->crash->owner != 0)
        PAWL_TRY(end_lease(play, error));
    return pawl_runner_open(play->world->engine, &runner, &play->world->runner, error);
}

static bool is_finished(const struct pawl_instance *instance)
{
    return instance->status == PAWL_COMPLETE || instance->status == PAWL_TERMINATED || instance->status == PAWL_ERRORED;
}

/* ---- The script -------------------------------------------------------------------------------------------------- */

typedef pawl_status act(struct pw_sweep_play *play, size_t position, struct pawl_error *error);

static pawl_status create(struct pw_sweep_play *play, size_t position, struct pawl_error *error)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    (void)position;
    options.id = PW_SWEEP_ID;
    options.params_json = play->options->params_json;
    options.return_existing = true;
    return pawl_create(play->world->engine, play->world->scope, play->options->workflow, &options, &instance, error);
}

/* Runs up to the time of this event. */
static pawl_status run_up_to(struct pw_sweep_play *play, size_t position, struct pawl_error *error)
{
    struct pawl_instance instance;
    char duration[32];
    int64_t after_ms = 0;
    (void)pw_duration_parse(play->options->events[position].after, &after_ms); /* checked before */
    PAWL_TRY(pawl_world_get(play->world, play->options->workflow, PW_SWEEP_ID, &instance, error));
    int64_t left_ms = instance.created_at_ms + after_ms - pawl_world_now_ms(play->world);
    if (left_ms <= 0)
        return PAWL_OK;
    snprintf(duration, sizeof duration, "%lld ms", (long long)left_ms);
    return pawl_world_advance(play->world, duration, error);
}

/* Marks the name of a deferred.  No event type contains a colon. */
#define DEFERRED "deferred:"

/* Completes a deferred, after running what is due now, because the workflow takes the token there at the latest. */
static pawl_status complete(struct pw_sweep_play *play, const struct pawl_sweep_event *event, struct pawl_error *error)
{
    struct pawl_instance instance;
    PAWL_TRY(pawl_world_run_until_idle(play->world, error));
    PAWL_TRY(pawl_world_get(play->world, play->options->workflow, PW_SWEEP_ID, &instance, error));
    if (is_finished(&instance))
        return PAWL_OK;
    pawl_status status = pawl_world_deferred_succeed(play->world, play->options->workflow, PW_SWEEP_ID,
                                                     event->type + strlen(DEFERRED), event->payload_json, error);
    /* too late, which also happens in production: the wait was over */
    return status == PAWL_DEFERRED_COMPLETED ? PAWL_OK : status;
}

static pawl_status send(struct pw_sweep_play *play, size_t position, struct pawl_error *error)
{
    if (pw_text_begins_with(pw_text_of(play->options->events[position].type), DEFERRED))
        return complete(play, &play->options->events[position], error);
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    char id[32];
    snprintf(id, sizeof id, "sweep-%zu", position);
    options.type = play->options->events[position].type;
    options.payload_json = play->options->events[position].payload_json;
    options.event_id = id;
    pawl_status status = pawl_send_event(play->world->engine, play->world->scope, play->options->workflow, PW_SWEEP_ID,
                                         &options, NULL, error);
    return status == PAWL_INSTANCE_TERMINAL ? PAWL_OK : status; /* too late, which also happens in production */
}

static pawl_status run_to_end(struct pw_sweep_play *play, size_t position, struct pawl_error *error)
{
    (void)position;
    return pawl_world_run_to_end(play->world, error);
}

/* The step in which the instance waits, or, if that is a wait for a child, the step in which the child waits, and so
 * on.  NULL: none, or not known. */
static const struct pawl_step_record *find_wait(const struct pw_sweep_play *play)
{
    enum { DEPTH_MAX = 100 };
    struct pawl_instance instance;
    const char *workflow = play->options->workflow, *id = PW_SWEEP_ID;
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        if (pawl_world_get(play->world, workflow, id, &instance, NULL) != PAWL_OK || instance.current_step == NULL ||
            instance.current_step->status != PAWL_STEP_WAITING)
            return NULL;
        const struct pawl_step_record *step = instance.current_step;
        if (step->kind != PAWL_STEP_CHILD || step->waits_for == NULL)
            return step;
        workflow = step->waits_for->workflow;
        id = step->waits_for->id;
    }
    return NULL;
}

/* Explains why the run does not end: the world's error, or what nobody does. */
static const char *explain_endless(struct pw_sweep_play *play, const char *told)
{
    pawl_scope *scope = play->world->scope;
    const struct pawl_step_record *step = find_wait(play);
    if (step != NULL && step->kind == PAWL_STEP_CALL)
        return pawl_scope_format(scope,
                                 "the call \"%s\" waits for a worker, and there is none: register its function in the "
                                 "setup, or mock the call",
                                 step->name);
    if (step != NULL && step->kind == PAWL_STEP_DEFERRED)
        return pawl_scope_format(
            scope,
            "nobody completes deferred \"%s\", and it is awaited without a timeout: complete it by "
            "an event \"deferred:%s\" of the sweep",
            step->name, step->name);
    return pawl_scope_format(scope, "%s", told);
}

/* Does `what` in this process or, if it dies, again in the next one.  A play has one crash. */
static pawl_status insist(struct pw_sweep_play *play, act *what, size_t position, struct pawl_error *error)
{
    struct pawl_error told = { PAWL_OK, "" };
    pawl_status status = what(play, position, &told);
    if (play->crash->dead && !pw_sweep_has_seen_enough(&play->watch)) {
        status = begin_again(play, &told);
        if (status == PAWL_OK)
            status = what(play, position, &told);
    }
    if (status == PAWL_BUSY && play->endless == NULL) {
        play->endless = explain_endless(play, told.text);
        return play->endless != NULL ? PAWL_BUSY : pw_error_plain(error, PAWL_NOMEM);
    }
    return status == PAWL_OK ? PAWL_OK : pw_error(error, status, "%s", told.text);
}

static pawl_status follow_script(struct pw_sweep_play *play, struct pawl_error *error)
{
    PAWL_TRY(insist(play, create, 0, error));
    for (size_t i = 0; i < play->options->event_count; i++) {
        if (play->options->events[i].after != NULL)
            PAWL_TRY(insist(play, run_up_to, i, error));
        PAWL_TRY(insist(play, send, i, error));
    }
    return insist(play, run_to_end, 0, error);
}

/* ---- The outcome ------------------------------------------------------------------------------------------------- */

static pawl_status read_outcome(struct pw_sweep_play *play, struct pawl_error *error)
{
    struct pawl_instance instance;
    pawl_scope *scope = play->world->scope;
    PAWL_TRY(pawl_world_get(play->world, play->options->workflow, PW_SWEEP_ID, &instance, error));
    const char *with = instance.error_name != NULL ? instance.error_name : instance.output_json;
    play->error_name = instance.error_name;
    play->error_message = instance.error_message;
    play->outcome = pawl_scope_format(scope, "%s%s%s", pawl_instance_status_name(instance.status),
                                      with != NULL ? " with " : "", with != NULL ? with : "");
    return play->outcome != NULL ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
}

static const char *explain_unfinished(pawl_scope *scope, const char *workflow, const struct pawl_instance *row)
{
    if (row->phase == PAWL_PHASE_WAITING_FOR_REPAIR)
        return pawl_scope_format(scope,
                                 "instance \"%s\" of \"%s\" waits for repair, as a step of it has failed and "
                                 "suspend_on_failure is set",
                                 row->id, workflow);
    return pawl_scope_format(scope, "instance \"%s\" of \"%s\" is left %s, and nothing is due", row->id, workflow,
                             pawl_instance_status_name(row->status));
}

/* The instances of one workflow: how many, and whether one of them is stuck. */
static pawl_status count_instances(struct pw_sweep_play *play, size_t position, struct pawl_error *error)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    pawl_scope *scope = play->world->scope;
    options.page_size = PW_PAGE_SIZE_MAX;
    options.order = PAWL_OLDEST_FIRST;
    do {
        const char *name = play->workflows[position];
        PAWL_TRY(pawl_list(play->world->engine, scope, name, &options, &page, error));
        for (size_t i = 0; i < page.count; i++) {
            const struct pawl_instance *row = &page.instances[i];
            if (play->unfinished == NULL && !is_finished(row))
                play->unfinished = explain_unfinished(scope, name, row);
        }
        play->instance_counts[position] += (int64_t)page.count;
        options.cursor = page.cursor;
    } while (page.cursor != NULL);
    return PAWL_OK;
}

static pawl_status read_instances(struct pw_sweep_play *play, struct pawl_error *error)
{
    const struct pawl_workflow_info *workflows;
    pawl_scope *scope = play->world->scope;
    pawl_status status = pawl_list_workflows(play->world->engine, scope, &workflows, &play->workflow_count);
    if (status != PAWL_OK)
        return pw_error_plain(error, status);
    play->instance_counts = pw_scope_take(scope, play->workflow_count * sizeof *play->instance_counts);
    play->workflows = pw_scope_take(scope, play->workflow_count * sizeof *play->workflows);
    if (play->instance_counts == NULL || play->workflows == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    for (size_t i = 0; i < play->workflow_count; i++) {
        play->instance_counts[i] = 0;
        play->workflows[i] = workflows[i].name;
        PAWL_TRY(count_instances(play, i, error));
    }
    return PAWL_OK;
}

void pw_sweep_tell(const struct pw_sweep_play *play, const char *step)
{
    if (play->options->tell != NULL)
        play->options->tell(play->options->user, play->where, step);
}

void pw_sweep_tell_unheeded(const struct pw_sweep_play *play)
{
    char where[300];
    snprintf(where, sizeof where, "%s, calling on and on after PAWL_SUSPENDED", play->where);
    if (play->options->tell != NULL)
        play->options->tell(play->options->user, where, NULL);
}

pawl_status pw_sweep_play_run(struct pw_sweep_play *play, struct pawl_error *error)
{
    pw_sweep_tell(play, NULL);
    forget(play);
    pawl_status status = open_world(play, error);
    if (status == PAWL_OK)
        status = follow_script(play, error);
    if (play->crash != NULL)
        play->crash->counting = false; /* what follows only looks, and does not belong to the play */
    if (play->watch.out_of_memory)
        return pw_error_plain(error, PAWL_NOMEM);
    if (play->endless != NULL || pw_sweep_has_seen_enough(&play->watch))
        return PAWL_OK;
    PAWL_TRY(status);
    PAWL_TRY(read_outcome(play, error));
    return read_instances(play, error);
}
