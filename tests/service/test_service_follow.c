/* Following an instance: every change once, in order, from the beginning or from a mark, over restarts. */
#include "kit/service_world.h"

#include "pawl/pawl.h"

static pawl_follow *follow_from(struct world *world, const char *id, const char *mark)
{
    pawl_follow *follow = NULL;
    assert_int_equal(pawl_follow_open(world->engine, "order", id, mark, &follow, &world->error), PAWL_OK);
    return follow;
}

/* What is new, as one line: "status:active/queued step:step-1=waiting log:hello". */
static const char *next(struct world *world, pawl_follow *follow, const char **out_mark, bool *out_ended)
{
    const struct pawl_change *changes;
    size_t count;
    bool ended;
    const char *line = "";
    assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
    for (size_t i = 0; i < count; i++) {
        const struct pawl_change *change = &changes[i];
        const char *gap = i > 0 ? " " : "";
        assert_non_null(change->mark);
        switch (change->kind) {
        case PAWL_CHANGE_STATUS:
            line = pawl_scope_format(world->scope, "%s%sstatus:%s#%d", line, gap,
                                     pawl_phase_name(change->instance->phase), (int)change->instance->run_number);
            break;
        case PAWL_CHANGE_STEP:
            line = pawl_scope_format(world->scope, "%s%sstep:%s=%s", line, gap, change->step->name,
                                     pawl_step_status_name(change->step->status));
            break;
        case PAWL_CHANGE_LOG:
            line = pawl_scope_format(world->scope, "%s%slog:%s", line, gap, change->log->message);
            break;
        }
        if (out_mark != NULL)
            *out_mark = change->mark;
    }
    if (out_ended != NULL)
        *out_ended = ended;
    return line;
}

static void log_line(struct world *world, const char *id, const char *message)
{
    world_add_log(world, id, PAWL_LOG_INFO, "workflow", message);
}

/* The row of a waiting step, as it stands now. */
static void update_step(struct world *world, const char *id, int64_t seq, enum pawl_step_status status,
                        int64_t attempts)
{
    struct pw_instance row = world_row(world, id);
    struct pw_unit unit;
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_STEP);
    op->as.step.instance = row.key;
    op->as.step.run = row.run;
    op->as.step.row = (struct pw_step_row){ .seq = seq, .status = status, .attempts = attempts };
    op->as.step.row.updated_at_ms = world->now_ms;
    world_commit(world, &unit);
}

TEST_OF(world, changes_come_once_and_in_order)
{
    bool ended;
    world_create(world, "a");
    pawl_follow *follow = follow_from(world, "a", NULL);

    assert_string_equal(next(world, follow, NULL, &ended), "status:queued#1");
    assert_string_equal(next(world, follow, NULL, &ended), "");
    world->now_ms++;
    log_line(world, "a", "one");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    world->now_ms++;
    log_line(world, "a", "two");
    assert_string_equal(next(world, follow, NULL, &ended), "log:one step:step-1=completed log:two");
    assert_string_equal(next(world, follow, NULL, &ended), "");
    assert_false(ended);
    log_line(world, "a", "three");
    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    assert_string_equal(next(world, follow, NULL, &ended), "log:three status:complete#1");
    assert_true(ended);
    assert_string_equal(next(world, follow, NULL, &ended), "");
    assert_true(ended);

    pawl_follow_close(follow);
}

TEST_OF(world, a_waiting_step_comes_again_when_it_has_changed)
{
    world_create(world, "a");
    pawl_follow *follow = follow_from(world, "a", NULL);
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_WAITING);
    world_add_step(world, "a", 2, PAWL_STEP_DO, PAWL_STEP_WAITING);

    assert_string_equal(next(world, follow, NULL, NULL), "status:queued#1 step:step-1=waiting step:step-2=waiting");
    assert_string_equal(next(world, follow, NULL, NULL), "");
    update_step(world, "a", 2, PAWL_STEP_WAITING, 3);
    assert_string_equal(next(world, follow, NULL, NULL), "step:step-2=waiting");
    assert_string_equal(next(world, follow, NULL, NULL), "");
    update_step(world, "a", 1, PAWL_STEP_COMPLETED, 1);
    assert_string_equal(next(world, follow, NULL, NULL), "step:step-1=completed");
    update_step(world, "a", 2, PAWL_STEP_ERRORED, 4);
    assert_string_equal(next(world, follow, NULL, NULL), "step:step-2=errored");
    assert_string_equal(next(world, follow, NULL, NULL), "");

    pawl_follow_close(follow);
}

/* The status stays the same, and what it waits for does not. */
TEST_OF(world, what_a_run_waits_for_is_told_with_its_status_and_when_it_changes)
{
    const struct pawl_change *changes;
    const char *mark;
    size_t count;
    bool ended;
    world_create(world, "a");
    world_wait(world, "a", 1, PAWL_STEP_SLEEP, NULL, WORLD_START_MS + 1000);
    pawl_follow *follow = follow_from(world, "a", NULL);

    assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
    assert_int_equal(count, 2);
    assert_int_equal(changes[0].instance->waiting_for->kind, PAWL_WHY_SLEEP);
    mark = changes[1].mark;
    update_step(world, "a", 1, PAWL_STEP_COMPLETED, 1);
    world_wait(world, "a", 2, PAWL_STEP_EVENT, "paid", WORLD_START_MS + 2000);
    for (int i = 0; i < 2; i++) { /* the second time from the mark */
        assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
        assert_int_equal(count, 3);
        assert_int_equal(changes[0].kind, PAWL_CHANGE_STATUS);
        assert_int_equal(changes[0].instance->status, PAWL_WAITING);
        assert_int_equal(changes[0].instance->waiting_for->kind, PAWL_WHY_EVENT);
        assert_string_equal(next(world, follow, NULL, NULL), "");
        pawl_follow_close(follow);
        follow = follow_from(world, "a", mark);
    }
    pawl_follow_close(follow);
}

/* It had been told as failed, and so as finished: nobody looked at it again. */
TEST_OF(world, a_step_that_a_repair_put_back_is_told_again_from_any_mark)
{
    const char *mark;
    bool ended;
    world_create(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    world_add_step(world, "a", 2, PAWL_STEP_DO, PAWL_STEP_ERRORED);
    world_park(world, "a", PW_TASK_PAUSED, PW_TASK_REPAIR, 0);
    pawl_follow *follow = follow_from(world, "a", NULL);
    assert_string_equal(next(world, follow, &mark, &ended),
                        "status:waitingForRepair#1 step:step-1=completed step:step-2=errored");
    world->now_ms++;
    assert_int_equal(pawl_resume(world->engine, "order", "a", &world->error), PAWL_OK);
    update_step(world, "a", 2, PAWL_STEP_COMPLETED, 1);
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    for (int i = 0; i < 2; i++) {
        assert_string_equal(next(world, follow, NULL, &ended), "log:resumed after repair, and tried again: step-2");
        assert_false(ended);
        assert_string_equal(next(world, follow, NULL, &ended),
                            "step:step-1=completed step:step-2=completed status:complete#1");
        assert_true(ended);
        pawl_follow_close(follow);
        follow = follow_from(world, "a", mark);
    }
    pawl_follow_close(follow);
}

TEST_OF(world, a_line_that_only_reads_like_a_repair_takes_nobody_back)
{
    bool ended;
    world_create(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    pawl_follow *follow = follow_from(world, "a", NULL);
    (void)next(world, follow, NULL, &ended);
    world_add_log(world, "a", PAWL_LOG_INFO, "system", "resumed after repair, and tried again: step-1");
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    assert_string_equal(next(world, follow, NULL, &ended),
                        "log:resumed after repair, and tried again: step-1 status:complete#1");
    assert_true(ended);
    pawl_follow_close(follow);
}

TEST_OF(world, a_clock_that_goes_back_hides_nothing)
{
    world_create(world, "a");
    pawl_follow *follow = follow_from(world, "a", NULL);
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_WAITING);
    log_line(world, "a", "one");
    (void)next(world, follow, NULL, NULL);

    world->now_ms -= 3600000;
    update_step(world, "a", 1, PAWL_STEP_COMPLETED, 1);
    log_line(world, "a", "two");

    assert_string_equal(next(world, follow, NULL, NULL), "step:step-1=completed log:two"); /* as it came */
    pawl_follow_close(follow);
}

/* From every mark that was given out, exactly the rest follows. */
TEST_OF(world, every_mark_leads_to_what_comes_behind_it)
{
    const struct pawl_change *changes;
    size_t count;
    bool ended;
    world_create(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_WAITING);
    for (int i = 0; i < 5; i++) {
        world->now_ms++;
        log_line(world, "a", "line");
        world_add_step(world, "a", i + 2, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
    }
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    pawl_follow *follow = follow_from(world, "a", NULL);
    assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
    assert_int_equal(count, 12);
    assert_true(ended);

    for (size_t i = 0; i < count; i++) {
        const struct pawl_change *rest;
        size_t rest_count;
        pawl_follow *again = follow_from(world, "a", changes[i].mark);
        assert_int_equal(pawl_follow_next(again, world->scope, &rest, &rest_count, &ended, &world->error), PAWL_OK);
        assert_int_equal(rest_count, count - i - 1);
        for (size_t k = 0; k < rest_count; k++) {
            assert_int_equal(rest[k].kind, changes[i + 1 + k].kind);
            assert_string_equal(rest[k].mark, changes[i + 1 + k].mark);
        }
        assert_true(ended);
        pawl_follow_close(again);
    }
    pawl_follow_close(follow);
}

TEST_OF(world, a_restart_is_followed_after_the_rest_of_the_old_run)
{
    const char *mark = NULL;
    world_create(world, "a");
    world_add_step(world, "a", 1, PAWL_STEP_DO, PAWL_STEP_WAITING);
    pawl_follow *follow = follow_from(world, "a", NULL);
    (void)next(world, follow, &mark, NULL);
    log_line(world, "a", "old");

    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    log_line(world, "a", "new");

    assert_string_equal(next(world, follow, NULL, NULL), "log:old log:restarted as run 2");
    assert_string_equal(next(world, follow, NULL, NULL), "status:queued#2 log:new");
    pawl_follow_close(follow);

    follow = follow_from(world, "a", mark); /* a mark of the old run leads over the restart as well */
    assert_string_equal(next(world, follow, NULL, NULL), "log:old log:restarted as run 2");
    assert_string_equal(next(world, follow, NULL, NULL), "status:queued#2 log:new");
    pawl_follow_close(follow);
}

TEST_OF(world, of_two_restarts_between_looks_no_run_is_left_out)
{
    world_create(world, "a");
    pawl_follow *follow = follow_from(world, "a", NULL);
    (void)next(world, follow, NULL, NULL);
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);
    log_line(world, "a", "between");
    assert_int_equal(pawl_restart(world->engine, "order", "a", &world->error), PAWL_OK);

    assert_string_equal(next(world, follow, NULL, NULL), "log:restarted as run 2");
    assert_string_equal(next(world, follow, NULL, NULL), "log:between log:restarted as run 3");
    assert_string_equal(next(world, follow, NULL, NULL), "status:queued#3");
    pawl_follow_close(follow);
}

TEST_OF(world, a_long_history_comes_in_pages)
{
    const struct pawl_change *changes;
    size_t count, steps = 0, logs = 0, rounds = 0;
    bool ended = false;
    world_create(world, "a");
    for (int i = 1; i <= 250; i++) {
        world_add_step(world, "a", i, PAWL_STEP_DO, PAWL_STEP_COMPLETED);
        log_line(world, "a", "line");
    }
    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    pawl_follow *follow = follow_from(world, "a", NULL);

    while (!ended) {
        assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
        for (size_t i = 0; i < count; i++) {
            if (changes[i].kind == PAWL_CHANGE_LOG)
                assert_int_equal(changes[i].log->id, ++logs);
            steps += changes[i].kind == PAWL_CHANGE_STEP;
        }
        rounds++;
    }

    assert_int_equal(steps, 250);
    assert_int_equal(logs, 250);
    assert_int_equal(rounds, 250 / 32 + 1);
    pawl_follow_close(follow);
}

/* More steps wait than a mark has room for: what it cannot name comes again, nothing is left out. */
TEST_OF(world, a_mark_of_many_waiting_steps_leaves_none_out)
{
    const struct pawl_change *changes;
    const char *mark = NULL;
    size_t count, told = 0;
    bool ended;
    world_create(world, "a");
    for (int i = 1; i <= 60; i++)
        world_add_step(world, "a", i, PAWL_STEP_DO, PAWL_STEP_WAITING);
    pawl_follow *follow = follow_from(world, "a", NULL);
    (void)next(world, follow, &mark, NULL);
    for (int i = 1; i <= 60; i++)
        update_step(world, "a", i, PAWL_STEP_COMPLETED, 1);
    assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
    assert_int_equal(count, 60);
    pawl_follow_close(follow);

    follow = follow_from(world, "a", mark);
    assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
    for (size_t i = 0; i < count; i++)
        told += changes[i].kind == PAWL_CHANGE_STEP && changes[i].step->status == PAWL_STEP_COMPLETED;
    assert_int_equal(told, 60);
    pawl_follow_close(follow);
}

/* Numbers that nobody has written, but that are numbers: a mark is written from them again. */
TEST_OF(world, a_forged_mark_of_the_longest_numbers_does_no_harm)
{
    const char *mark = "1.1.0.0.9223372036854775807.9223372036854775807";
    const struct pawl_change *changes;
    size_t count;
    bool ended;
    world_create(world, "a");
    for (long long i = 0; i < 32; i++)
        mark = pawl_scope_format(world->scope, "%s.%lld:9223372036854775807", mark, 9223372036854775700LL + i);
    pawl_follow *follow = follow_from(world, "a", mark);
    world_claim(world); /* another phase: a status, with a mark */
    assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
    assert_int_equal(count, 1);
    assert_int_equal(strlen(changes[0].mark), strlen(mark));
    pawl_follow_close(follow);
}

/* Large results come a few at a time, so that one look holds no hundreds of megabytes. */
TEST_OF(world, large_changes_come_a_few_at_a_time)
{
    const struct pawl_change *changes;
    size_t count, logs = 0;
    bool ended = false;
    char *large = malloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    world_create(world, "a");
    for (int i = 0; i < 10; i++)
        world_add_log(world, "a", PAWL_LOG_INFO, "workflow", large);
    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    free(large);
    pawl_follow *follow = follow_from(world, "a", NULL);
    while (!ended) {
        assert_int_equal(pawl_follow_next(follow, world->scope, &changes, &count, &ended, &world->error), PAWL_OK);
        assert_true(count <= 4);
        for (size_t i = 0; i < count; i++)
            logs += changes[i].kind == PAWL_CHANGE_LOG;
    }
    assert_int_equal(logs, 10);
    pawl_follow_close(follow);
}

TEST_OF(world, what_is_no_mark_is_refused)
{
    const char *mark = NULL;
    pawl_follow *follow = NULL;
    world_create(world, "a");
    world_create(world, "b");
    pawl_follow *other = follow_from(world, "b", NULL);
    (void)next(world, other, &mark, NULL);
    pawl_follow_close(other);

    const char *wrong[] = { "",
                            "x",
                            "1",
                            "1.1.0.0.0",
                            "1.1.0.0.0.0x",
                            "1.1.0.0.0.0.",
                            "1.0.0.0.0.0",
                            "1.2.0.0.0.0",
                            "1.1.9.0.0.0",
                            "1.1.0.99.0.0",
                            "1.1.0.0.-1.0",
                            "1.1.0.0.-2.0",
                            "1.1.0.0.9.0.5",
                            "1.1.0.0.9.0.5:1.4:1",
                            "1.1.0.0.4.0.5:1",
                            "1.1.0.0.9.0.5:",
                            "99999999999999999999.1.0.0.0.0",
                            mark };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pawl_status status = pawl_follow_open(world->engine, "order", "a", wrong[i], &follow, &world->error);
        if (strcmp(wrong[i], "1.1.0.0.0.0.") != 0) /* a dot at the end does no harm */
            assert_refused(world, status, PAWL_INVALID_CURSOR, "not a mark", "\"a\"", NULL);
        else
            pawl_follow_close(follow);
    }
    assert_refused(world, pawl_follow_open(world->engine, "order", "nobody", NULL, &follow, &world->error),
                   PAWL_INSTANCE_NOT_FOUND, NULL);
    pawl_follow_close(NULL);
}
