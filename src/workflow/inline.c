/* inline.c - runs a whole run in the thread of its caller, on an engine of its own.  That engine has the same
 * workflows and functions and keeps its store in memory.  Sleeps are waited out.  Nobody outside can reach the run
 * with an event, a completed deferred or a resume, so a run that waits only for those is given up at once. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "pawl/runner.h"
#include "pawl/service.h"
#include "workflow/shelf.h"

enum { PAGE_SIZE = 100 };
#define LEASE_MS (INT64_C(365) * 24 * 60 * 60 * 1000)

static pawl_status open_engine(const struct pw_shelf *shelf, pawl_engine **out_engine, struct pawl_error *error)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    pawl_engine *engine;
    options.store_url = "sqlite::memory:";
    PAWL_TRY(pawl_open(&options, &engine, error));
    pawl_status status = PAWL_OK;
    struct pw_registration *workflow = pw_shelf_next(&shelf->workflows);
    struct pw_function *function = pw_shelf_next(&shelf->functions);
    for (; workflow != NULL && status == PAWL_OK; workflow = pw_shelf_next(&workflow->entry))
        status = pw_define_workflow(engine, workflow, NULL, error);
    for (; function != NULL && status == PAWL_OK; function = pw_shelf_next(&function->entry))
        status = pw_define_function(engine, function, NULL, error);
    if (status != PAWL_OK) {
        pawl_close(engine);
        return status;
    }
    *out_engine = engine;
    return PAWL_OK;
}

static bool is_finished(const struct pawl_instance *instance)
{
    return instance->status == PAWL_COMPLETE || instance->status == PAWL_TERMINATED || instance->status == PAWL_ERRORED;
}

/* ---- Will it ever go on? ----------------------------------------------------------------------------------------- */

/* What the runs in memory wait for. */
struct outlook {
    bool waits_for_time;   /* a run sleeps, or waits for a retry */
    int64_t timeout_at_ms; /* the earliest timeout of a wait for others; INT64_MAX: none */
};

/* The timeout of a wait for others is not worth waiting for, because nobody could end the wait before. */
static void look_at_step(const struct pawl_step_record *step, struct outlook *outlook)
{
    if (step->status != PAWL_STEP_WAITING)
        return;
    if (step->kind == PAWL_STEP_SLEEP || step->next_retry_at_ms > 0)
        outlook->waits_for_time = true;
    else if (step->wake_at_ms > 0 && step->wake_at_ms < outlook->timeout_at_ms)
        outlook->timeout_at_ms = step->wake_at_ms;
}

static pawl_status look_at_steps(pawl_engine *engine, pawl_scope *scope, const struct pawl_instance *instance,
                                 struct outlook *outlook, struct pawl_error *error)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history page;
    options.page_size = PAGE_SIZE;
    do {
        PAWL_TRY(pawl_get_history(engine, scope, instance->workflow, instance->id, &options, &page, error));
        for (size_t i = 0; i < page.step_count; i++)
            look_at_step(&page.steps[i], outlook);
        options.steps_cursor = page.steps_cursor;
    } while (options.steps_cursor != NULL);
    return PAWL_OK;
}

static pawl_status look_at_workflow(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                    struct outlook *outlook, struct pawl_error *error)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    options.has_status = true;
    options.status = PAWL_WAITING;
    options.page_size = PAGE_SIZE;
    do {
        PAWL_TRY(pawl_list(engine, scope, workflow, &options, &page, error));
        for (size_t i = 0; i < page.count; i++)
            PAWL_TRY(look_at_steps(engine, scope, &page.instances[i], outlook, error));
        options.cursor = page.cursor;
    } while (options.cursor != NULL);
    return PAWL_OK;
}

/* PAWL_INVALID if the run will never go on.  It may depend on any of the runs in memory, including one that was put
 * off until next_at_ms because memory was short. */
static pawl_status check_hope(pawl_engine *engine, pawl_scope *scope, const struct pw_shelf *shelf,
                              const struct pawl_instance *instance, int64_t next_at_ms, struct pawl_error *error)
{
    struct outlook outlook = { .timeout_at_ms = INT64_MAX };
    const struct pw_registration *at = pw_shelf_next(&shelf->workflows);
    for (; at != NULL; at = pw_shelf_next(&at->entry))
        PAWL_TRY(look_at_workflow(engine, scope, at->name, &outlook, error));
    if (outlook.waits_for_time || next_at_ms < outlook.timeout_at_ms)
        return PAWL_OK;
    const struct pawl_step_record *step = instance->current_step;
    if (step == NULL)
        return pw_error(error, PAWL_INVALID, "the inline run of \"%s\" cannot go on", instance->workflow);
    if (instance->status == PAWL_PAUSED)
        return pw_error(
            error, PAWL_INVALID,
            "the inline run of \"%s\" waits for the repair of step \"%.80s\" (%.80s: %.200s), and nobody can "
            "resume a run in memory",
            instance->workflow, step->name, step->error_name != NULL ? step->error_name : "",
            step->error_message != NULL ? step->error_message : "");
    return pw_error(
        error, PAWL_INVALID,
        "the inline run of \"%s\" waits at step \"%.80s\" (%s), and nothing in memory can end that; use the "
        "remote mode for what somebody else finishes",
        instance->workflow, step->name, pawl_step_kind_name(step->kind));
}

/* ---- Carrying it out --------------------------------------------------------------------------------------------- */

static void wait_until(pawl_engine *engine, int64_t at_ms)
{
    int64_t ms = at_ms - pawl_now_ms(engine);
    struct timespec rest = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    while (ms > 0 && nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
}

/* Runs everything that is due, and waits until something is due again.  Reads go into the scope. */
static pawl_status go_on(pawl_runner *runner, pawl_engine *engine, pawl_scope *scope, const struct pw_shelf *shelf,
                         struct pawl_instance *instance, struct pawl_error *error)
{
    const char *workflow = instance->workflow, *id = instance->id;
    int64_t processed, at_ms;
    do {
        PAWL_TRY(pawl_runner_tick(runner, 0, 0, &processed, error));
    } while (processed > 0);
    PAWL_TRY(pawl_get(engine, scope, workflow, id, instance, error));
    if (is_finished(instance))
        return PAWL_OK;
    PAWL_TRY(pawl_runner_next_wake_at(runner, &at_ms, error));
    if (at_ms > pawl_now_ms(engine))
        PAWL_TRY(check_hope(engine, scope, shelf, instance, at_ms, error));
    if (at_ms < INT64_MAX)
        wait_until(engine, at_ms);
    return PAWL_OK;
}

static pawl_status carry(pawl_engine *engine, const struct pw_shelf *shelf, const char *workflow, const char *id,
                         struct pawl_error *error)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    pawl_runner *runner;
    options.lease_ms = LEASE_MS; /* no other process can take what is in memory, so leases need no renewal */
    options.tick_alone = true;
    PAWL_TRY(pawl_runner_open(engine, &options, &runner, error));
    pawl_status status = PAWL_OK;
    bool finished = false;
    while (status == PAWL_OK && !finished) {
        struct pawl_instance instance = { .workflow = workflow, .id = id };
        pawl_scope *scope = pawl_scope_new();
        status =
            scope != NULL ? go_on(runner, engine, scope, shelf, &instance, error) : pw_error_plain(error, PAWL_NOMEM);
        finished = status == PAWL_OK && is_finished(&instance);
        pawl_scope_free(scope);
    }
    pawl_runner_close(runner);
    return status;
}

pawl_status pw_run_inline(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                          const char *params_json, void *user, struct pawl_instance *out_instance,
                          struct pawl_error *error)
{
    const struct pw_registration *registration = user;
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_engine *own;
    (void)engine;
    options.id = id;
    options.params_json = params_json;
    PAWL_TRY(open_engine(registration->shelf, &own, error));
    pawl_status status = pawl_create(own, scope, workflow, &options, &instance, error);
    if (status == PAWL_OK)
        status = carry(own, registration->shelf, workflow, instance.id, error);
    if (status == PAWL_OK)
        status = pawl_get(own, scope, workflow, instance.id, out_instance, error);
    pawl_close(own);
    return status;
}
