/* testing_kit.c - see testing_kit.h. */
#include "testing_kit.h"

/* ---- Workflows ------------------------------------------------------------------------------------------------- */

BODY(note_body)
{
    struct kit *kit = pawl_step_user(step);
    if (kit->bodies < TIMES_MAX)
        kit->times[kit->bodies] = pawl_now_ms(pawl_step_engine(step));
    kit->bodies++;
    pawl_world_jump_ms(kit->world, kit->body_takes_ms);
    return pawl_result(step, out_result, "s", "real");
}

/* A step, ten minutes, a step. */
WORKFLOW(nap)
{
    PAWL_TRY(pawl_do(run, "before", NULL, note_body, params, NULL));
    PAWL_TRY(pawl_sleep(run, "nap", "10 minutes"));
    PAWL_TRY(pawl_do(run, "after", NULL, note_body, params, NULL));
    return pawl_return(run, out_result, "s", "rested");
}

static const struct pawl_step_options twice = { .retries = 2, .delay = "10 seconds", .timeout = "1 minute" };

/* One step; what it answers is noted. */
WORKFLOW(single)
{
    struct kit *kit = pawl_run_user(run);
    pawl_value *result = NULL;
    pawl_status status = pawl_do(run, "work", &twice, note_body, params, &result);
    if (status == PAWL_FAILED) {
        snprintf(kit->failure, sizeof kit->failure, "%s", pawl_run_failure(run).name);
        snprintf(kit->message, sizeof kit->message, "%s", pawl_run_failure(run).message);
    }
    PAWL_TRY(status);
    kit->kind = pawl_value_kind(result, NULL);
    *out_result = result;
    return PAWL_OK;
}

WORKFLOW(awaiting)
{
    struct pawl_event event;
    PAWL_TRY(pawl_wait_for_event(run, "await", "go", NULL, &event));
    *out_result = event.payload;
    return PAWL_OK;
}

/* As many steps and log lines as no page holds. */
WORKFLOW(many)
{
    struct pawl_event event;
    PAWL_TRY(pawl_wait_for_event(run, "begin", "begin", NULL, &event));
    for (int i = 0; i < PAGED_COUNT - 1; i++) {
        PAWL_TRY(pawl_log(run, PAWL_LOG_INFO, NULL, NULL, "line %d", i));
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", i), NULL, note_body, params, NULL));
    }
    return PAWL_OK;
}

/* Two steps without a wait; the first is named by a counter that is no part of history. */
WORKFLOW(fickle)
{
    struct kit *kit = pawl_run_user(run);
    const char *name = pawl_run_format(run, "number %lld", (long long)kit->names++);
    PAWL_TRY(pawl_do(run, name, NULL, note_body, params, NULL));
    PAWL_TRY(pawl_do(run, "second", NULL, note_body, params, NULL));
    return pawl_return(run, out_result, "s", "done");
}

WORKFLOW(faithful)
{
    ((struct kit *)pawl_run_user(run))->passes++;
    PAWL_TRY(pawl_do(run, "one", NULL, note_body, params, NULL));
    PAWL_TRY(pawl_do(run, "two", NULL, note_body, params, NULL));
    PAWL_TRY(pawl_do(run, "three", NULL, note_body, params, NULL));
    return pawl_return(run, out_result, "s", "done");
}

static pawl_status branch(pawl_run *run, const pawl_value *name, pawl_value **out_result)
{
    const char *text = pawl_value_string(name, NULL, "");
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "%s begins", text), NULL, note_body, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "%s naps", text), text[0] == 'l' ? "1 hour" : "2 hours"));
    PAWL_TRY(pawl_do(run, pawl_run_format(run, "%s ends", text), NULL, note_body, NULL, NULL));
    return pawl_return(run, out_result, "s", text);
}

/* Both branches, and then a race that the left one wins. */
WORKFLOW(forked)
{
    static const char *const names[] = { "left", "right", "light", "heavy" };
    struct pawl_branch branches[4];
    size_t winner;
    for (size_t i = 0; i < 4; i++) {
        pawl_value *name;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &name, "s", names[i]));
        branches[i] = (struct pawl_branch){ .run = branch, .input = name };
    }
    PAWL_TRY(pawl_all(run, "all", branches, 2, 0));
    PAWL_TRY(pawl_first(run, "race", branches + 2, 2, &winner));
    return pawl_return(run, out_result, "[V, V, V]", branches[0].result, branches[1].result,
                       branches[2 + winner].result);
}

BODY(create_next)
{
    return pawl_step_create(step, "endless", NULL, input);
}

/* Each creates the next. */
WORKFLOW(endless)
{
    return pawl_do(run, "create the next", NULL, create_next, params, NULL);
}

/* Never at its end, but never in a hurry. */
WORKFLOW(watchman)
{
    for (int round = 0;; round++)
        PAWL_TRY(pawl_sleep(run, pawl_run_format(run, "round %d", round), "1 hour"));
}

/* Refused by the database each time; somebody who forgets that would try forever. */
BODY(insert_twice)
{
    struct kit *kit = pawl_step_user(step);
    if (++kit->bodies > 5)
        return pawl_fail_for_good(step, "Forgotten", "the same attempt was made again and again");
    PAWL_TRY(pawl_step_sql(step, "CREATE TABLE IF NOT EXISTS paid (id TEXT PRIMARY KEY)", NULL));
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO paid VALUES ($1)", "[s]", "same"));
    return pawl_step_sql(step, "INSERT INTO paid VALUES ($1)", "[s]", "same");
}

WORKFLOW(colliding)
{
    PAWL_TRY(pawl_do(run, "first", NULL, note_body, params, NULL));
    return pawl_do(run, "pay \"twice\"\nand more", NULL, insert_twice, params, NULL);
}

/* ---- Fixture --------------------------------------------------------------------------------------------------- */

void kit_open(struct kit *kit, const struct pawl_world_options *options)
{
    static const struct pawl_workflow workflows[] = {
        { .name = "nap", .run = nap },
        { .name = "single", .run = single },
        { .name = "other", .run = single },
        { .name = "awaiting", .run = awaiting },
        { .name = "many", .run = many },
        { .name = "fickle", .run = fickle },
        { .name = "faithful", .run = faithful },
        { .name = "endless", .run = endless },
        { .name = "watchman", .run = watchman },
        { .name = "forked", .run = forked },
        { .name = "colliding", .run = colliding },
    };
    ok(pawl_world_open(options, &kit->world, &kit->error));
    for (size_t i = 0; i < sizeof workflows / sizeof workflows[0]; i++) {
        struct pawl_workflow workflow = workflows[i];
        workflow.user = kit;
        ok(pawl_register(pawl_world_engine(kit->world), &workflow, &kit->error));
    }
}

void kit_reopen(struct kit *kit, const struct pawl_world_options *options)
{
    pawl_world_close(kit->world);
    *kit = (struct kit){ 0 };
    kit_open(kit, options);
}

static int set_up(void **state)
{
    struct kit *kit = calloc(1, sizeof *kit);
    kit_open(kit, NULL);
    *state = kit;
    return 0;
}

static int tear_down(void **state)
{
    struct kit *kit = *state;
    pawl_world_close(kit->world);
    free(kit);
    return 0;
}

const struct test_setting kit_setting = { .set_up = set_up, .tear_down = tear_down };

void kit_create(struct kit *kit, const char *workflow, const char *id)
{
    ok(pawl_world_create(kit->world, workflow, id, NULL, &kit->error));
}

void kit_run(struct kit *kit)
{
    ok(pawl_world_run_until_idle(kit->world, &kit->error));
}

struct pawl_instance kit_get(struct kit *kit, const char *workflow, const char *id)
{
    struct pawl_instance instance;
    ok(pawl_world_get(kit->world, workflow, id, &instance, &kit->error));
    return instance;
}

struct pawl_history kit_history(struct kit *kit, const char *workflow, const char *id)
{
    struct pawl_history read;
    ok(pawl_world_history(kit->world, workflow, id, 0, &read, &kit->error));
    return read;
}

const struct pawl_step_record *kit_work(struct kit *kit)
{
    const struct pawl_step_record *step = pawl_world_step(kit->world, "single", "s", "work");
    assert_non_null(step);
    return step;
}

struct pawl_instance kit_run_single(struct kit *kit)
{
    kit_create(kit, "single", "s");
    kit_run(kit);
    return kit_get(kit, "single", "s");
}

void kit_refused(struct kit *kit, pawl_status status, pawl_status expected, const char *word)
{
    assert_int_equal(status, expected);
    assert_int_equal(kit->error.status, expected);
    if (strstr(kit->error.text, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", kit->error.text, word);
    kit->error = (struct pawl_error){ PAWL_OK, "" };
}

void kit_traced(struct kit *kit, const char *words)
{
    if (strstr(pawl_world_trace(kit->world), words) == NULL)
        fail_msg("no \"%s\" in the trace:\n%s", words, pawl_world_trace(kit->world));
}
