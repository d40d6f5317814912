/* Taking a run up where it stopped: resumed after repair, retried after it failed, restarted from a step (contract F1, F2). */
#include "kit/service_world.h"

#include "base/limits.h"

static pawl_status retry_it(struct world *world, const char *id)
{
    return pawl_retry(world->engine, "order", id, &world->error);
}

static pawl_status restart_from(struct world *world, const char *id, const char *step)
{
    return pawl_restart_from(world->engine, "order", id, step, &world->error);
}

static struct pw_step_row completed(int64_t seq, const char *name)
{
    return (struct pw_step_row){ .seq = seq,
                                 .name = pw_text_of(name),
                                 .status = PAWL_STEP_COMPLETED,
                                 .state = PAWL_STATE_COMPLETED,
                                 .attempts = 1,
                                 .attempts_max = 6,
                                 .result = pw_text_of("1") };
}

static struct pw_step_row failed(int64_t seq, const char *name, enum pawl_step_kind kind, const char *error_name)
{
    return (struct pw_step_row){ .seq = seq,
                                 .name = pw_text_of(name),
                                 .description = pw_text_of("for people"),
                                 .kind = kind,
                                 .status = PAWL_STEP_ERRORED,
                                 .state = PAWL_STATE_FAILED,
                                 .attempts = 6,
                                 .attempts_max = 6,
                                 .timeout_ms = 1000,
                                 .wake_at_ms = WORLD_START_MS,
                                 .wait_event_type = pw_text_of(kind != PAWL_STEP_DO ? "$x/y" : NULL),
                                 .error_name = pw_text_of(error_name),
                                 .error_message = pw_text_of("no") };
}

/* Its branch lost a race. */
static struct pw_step_row abandoned(int64_t seq, const char *name, enum pawl_step_kind kind)
{
    struct pw_step_row row = failed(seq, name, kind, "STEP_ABANDONED");
    row.state = PAWL_STATE_ABANDONED;
    return row;
}

static const struct pawl_step_record *find_step(const struct pawl_history *history, const char *name)
{
    for (size_t i = 0; i < history->step_count; i++) {
        if (strcmp(history->steps[i].name, name) == 0)
            return &history->steps[i];
    }
    return NULL;
}

/* ---- Waiting for repair -------------------------------------------------------------------------------------------- */

TEST_OF(world, a_run_that_waits_for_repair_says_so)
{
    world_create(world, "a");
    world_park(world, "a", PW_TASK_PAUSED, PW_TASK_REPAIR, 0);

    struct pawl_instance instance = world_get(world, "a");
    assert_int_equal(instance.status, PAWL_PAUSED);
    assert_int_equal(instance.phase, PAWL_PHASE_WAITING_FOR_REPAIR);
    assert_string_equal(pawl_phase_name(instance.phase), "waitingForRepair");
    assert_int_equal(pawl_pause(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_WAITING_FOR_REPAIR);
}

TEST_OF(world, a_resume_after_repair_puts_failed_work_back_and_nothing_else)
{
    world_create(world, "a");
    world_record(world, "a", completed(1, "reserve"));
    world_record(world, "a", failed(2, "charge", PAWL_STEP_DO, "CardDeclined"));
    world_record(world, "a", failed(3, "call", PAWL_STEP_CALL, "STEP_TIMEOUT"));
    world_record(world, "a", failed(4, "child", PAWL_STEP_CHILD, "CHILD_TERMINATED"));
    world_record(world, "a", failed(5, "deferred", PAWL_STEP_DEFERRED, "Refused"));
    world_record(world, "a", abandoned(6, "loser", PAWL_STEP_DO));
    world_record(world, "a", failed(7, "wait", PAWL_STEP_EVENT, "WAIT_FOR_EVENT_TIMEOUT"));
    world_park(world, "a", PW_TASK_PAUSED, PW_TASK_REPAIR, 0);
    world->now_ms += 5;

    assert_int_equal(pawl_resume(world->engine, "order", "a", &world->error), PAWL_OK);

    struct pawl_history history = world_history(world, "a", 0);
    static const char *const back[] = { "charge", "call", "child" };
    static const char *const kept[] = { "deferred", "loser", "wait" };
    for (size_t i = 0; i < 3; i++) {
        const struct pawl_step_record *step = find_step(&history, back[i]);
        assert_int_equal(step->status, PAWL_STEP_WAITING);
        assert_int_equal(step->attempts, 0);
        assert_int_equal(step->attempts_max, 6);
        assert_int_equal(step->timeout_ms, 1000);
        assert_int_equal(step->wake_at_ms, 0);
        assert_null(step->error_name);
        assert_null(step->error_message);
        assert_null(step->waits_for);
        assert_string_equal(step->description, "for people");
        assert_int_equal(step->created_at_ms, WORLD_START_MS);
        assert_int_equal(step->updated_at_ms, WORLD_START_MS + 5);
        assert_int_equal(find_step(&history, kept[i])->status, PAWL_STEP_ERRORED);
    }
    assert_int_equal(find_step(&history, "reserve")->status, PAWL_STEP_COMPLETED);
    assert_int_equal(history.log_count, 1);
    assert_string_equal(history.logs[0].message, "resumed after repair, and tried again: charge, call, child");
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
    assert_int_equal(world_claim(world).kind, PW_TASK_RESUME);
}

TEST_OF(world, a_resume_of_an_ordinary_pause_tries_nothing_again)
{
    world_create(world, "a");
    world_record(world, "a", failed(1, "charge", PAWL_STEP_DO, "CardDeclined"));
    assert_int_equal(pawl_pause(world->engine, "order", "a", &world->error), PAWL_OK);

    assert_int_equal(pawl_resume(world->engine, "order", "a", &world->error), PAWL_OK);

    struct pawl_history history = world_history(world, "a", 0);
    assert_int_equal(history.steps[0].status, PAWL_STEP_ERRORED);
    assert_int_equal(history.log_count, 0);
}

TEST_OF(world, failed_steps_are_found_however_many_there_are)
{
    enum { STEPS = PW_PAGE_SIZE_MAX + 3 };
    char names[STEPS][16];
    world_create(world, "a");
    for (int i = 0; i < STEPS; i++) {
        snprintf(names[i], sizeof names[i], "step-%d", i + 1);
        bool fails = i == 0 || i == PW_PAGE_SIZE_MAX - 1 || i == STEPS - 1;
        world_record(world, "a", fails ? failed(i + 1, names[i], PAWL_STEP_DO, "No") : completed(i + 1, names[i]));
    }
    world_park(world, "a", PW_TASK_PAUSED, PW_TASK_REPAIR, 0);

    assert_int_equal(pawl_resume(world->engine, "order", "a", &world->error), PAWL_OK);

    assert_string_equal(world_history(world, "a", 0).logs[0].message,
                        "resumed after repair, and tried again: step-1, step-100, step-103");
}

/* ---- Retry ----------------------------------------------------------------------------------------------------------- */

TEST_OF(world, a_retry_keeps_what_had_finished_but_for_the_step_that_failed_last)
{
    struct pw_step_row early = failed(3, "handled", PAWL_STEP_DO, "Handled");
    struct pw_step_row late = failed(2, "charge", PAWL_STEP_DO, "CardDeclined"); /* begun before, tried for longer */
    late.updated_at_ms = WORLD_START_MS + 2;
    early.updated_at_ms = WORLD_START_MS + 1;
    struct pw_step_row loser = abandoned(4, "loser", PAWL_STEP_DO);
    loser.updated_at_ms = WORLD_START_MS + 3;
    world_create(world, "a");
    world_record(world, "a", completed(1, "reserve"));
    world_record(world, "a", late);
    world_record(world, "a", early);
    world_record(world, "a", loser);
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    world_start_local(world, 0);

    assert_int_equal(retry_it(world, "a"), PAWL_OK);

    struct pawl_history old = world_history(world, "a", 1), new = world_history(world, "a", 2);
    assert_int_equal(new.step_count, 3);
    assert_string_equal(find_step(&new, "reserve")->result_json, "1");
    assert_int_equal(find_step(&new, "handled")->status, PAWL_STEP_ERRORED);
    assert_null(find_step(&new, "charge"));
    assert_int_equal(old.step_count, 4);
    assert_string_equal(old.logs[0].message, "retried as run 2");
    assert_non_null(strstr(old.logs[0].data_json, "CardDeclined"));
    assert_int_equal(world_get(world, "a").status, PAWL_ACTIVE);
    assert_null(world_get(world, "a").error_name);
    assert_int_equal(world->woken, 1);
}

TEST_OF(world, a_run_that_failed_by_itself_keeps_all_its_steps)
{
    world_create(world, "a");
    world_record(world, "a", completed(1, "reserve"));
    world_record(world, "a", completed(2, "charge"));
    world_finish(world, "a", PW_OUTCOME_ERRORED);

    assert_int_equal(retry_it(world, "a"), PAWL_OK);

    assert_int_equal(world_history(world, "a", 2).step_count, 2);
}

TEST_OF(world, only_what_is_errored_and_was_not_undone_is_retried)
{
    world_create(world, "a");
    assert_refused(world, retry_it(world, "a"), PAWL_NOT_REPAIRABLE, "\"a\"", "active", NULL);
    world_finish(world, "a", PW_OUTCOME_COMPLETE);
    assert_refused(world, retry_it(world, "a"), PAWL_NOT_REPAIRABLE, "complete", NULL);

    world_create(world, "b");
    world_record(world, "b", completed(1, "charge"));
    struct pw_step_row undo = completed(2, "undo");
    undo.undoes = pw_text_of("charge");
    world_record(world, "b", undo);
    world_finish(world, "b", PW_OUTCOME_ERRORED);
    assert_refused(world, retry_it(world, "b"), PAWL_NOT_REPAIRABLE, "undone", NULL);
    assert_refused(world, restart_from(world, "b", "charge"), PAWL_NOT_REPAIRABLE, "undone", NULL);
    assert_int_equal(world_get(world, "b").run_number, 1);
    assert_refused(world, retry_it(world, "nobody"), PAWL_INSTANCE_NOT_FOUND, NULL);
}

TEST_OF(world, a_retried_run_is_handed_to_a_local_runner_that_has_room)
{
    world_create(world, "a");
    world_finish(world, "a", PW_OUTCOME_ERRORED);
    world_start_local(world, 1);

    assert_int_equal(retry_it(world, "a"), PAWL_OK);

    assert_int_equal(world->delivered_count, 1);
    assert_int_equal(world->delivered[0].fence.run, 2);
    assert_true(world_fence_holds(world, world->delivered[0].fence));
}

/* ---- Restart from a step ---------------------------------------------------------------------------------------------- */

TEST_OF(world, a_restart_from_a_step_keeps_what_was_recorded_before_it)
{
    world_create(world, "a");
    world_record(world, "a", completed(1, "reserve"));
    world_record(world, "a", completed(2, "charge"));
    world_record(world, "a", completed(3, "ship"));
    world_finish(world, "a", PW_OUTCOME_COMPLETE);

    assert_int_equal(restart_from(world, "a", "charge"), PAWL_OK);

    struct pawl_history new = world_history(world, "a", 2);
    assert_int_equal(new.step_count, 1);
    assert_string_equal(new.steps[0].name, "reserve");
    assert_string_equal(world_history(world, "a", 1).logs[0].message, "restarted from \"charge\" as run 2");
    assert_int_equal(world_get(world, "a").phase, PAWL_PHASE_QUEUED);
}

TEST_OF(world, a_run_that_goes_on_can_be_restarted_from_a_step_too)
{
    world_create(world, "a");
    struct pw_claim claim = world_claim(world);
    world_record(world, "a", completed(1, "reserve"));
    world_make(world, "a", PW_RELATION_ATTACHED, "other", "child", NULL);
    world_start_local(world, 0);

    assert_int_equal(restart_from(world, "a", "reserve"), PAWL_OK);

    assert_false(world_fence_holds(world, claim.fence));
    assert_int_equal(world->revoked, 1);
    assert_int_equal(world_history(world, "a", 2).step_count, 0);
    assert_int_equal(world_row_of(world, "other", "child").task.demand, PW_DEMAND_TERMINATE);
}

TEST_OF(world, what_is_being_undone_is_not_kept) /* its compensation may be under way, and not recorded yet */
{
    world_create(world, "a");
    world_record(world, "a", completed(1, "reserve"));
    assert_int_equal(pawl_interrupt(world->engine, "order", "a", &world->error), PAWL_OK);
    assert_refused(world, restart_from(world, "a", "reserve"), PAWL_NOT_REPAIRABLE, "undone", NULL);
}

TEST_OF(world, a_restart_from_a_step_that_is_not_there_is_refused)
{
    world_create(world, "a");
    world_record(world, "a", completed(1, "reserve"));

    assert_refused(world, restart_from(world, "a", "charge"), PAWL_INVALID_STEP_NAME, "\"charge\"", "\"a\"", NULL);
    assert_refused(world, restart_from(world, "a", ""), PAWL_INVALID_STEP_NAME, NULL);
    assert_refused(world, restart_from(world, "a", NULL), PAWL_INVALID, "step", NULL);
    assert_refused(world, restart_from(world, "nobody", "x"), PAWL_INSTANCE_NOT_FOUND, NULL);
    assert_int_equal(world_get(world, "a").run_number, 1);
}

TEST_OF(world, a_restart_from_a_step_works_without_waiting)
{
    pawl_status status = PAWL_BUSY;
    world_create(world, "a");
    world_record(world, "a", completed(1, "reserve"));

    pawl_restart_from_async(world->engine, "order", "a", "charge", &world->error, world_take_status, &status);
    assert_refused(world, status, PAWL_INVALID_STEP_NAME, "\"charge\"", NULL);
    pawl_restart_from_async(world->engine, "order", "a", NULL, &world->error, world_take_status, &status);
    assert_refused(world, status, PAWL_INVALID, "step", NULL);
    pawl_restart_from_async(world->engine, "order", "a", "reserve", &world->error, world_take_status, &status);
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(world_get(world, "a").run_number, 2);
}
