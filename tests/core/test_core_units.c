/* test_core_units.c - what the core records of a run besides its task, and the way back of a unit that is refused. */
#include "core_fixture.h"
#include "kit/test.h"

struct scene {
    struct pw_core core;
    struct pw_unit unit;
    struct pawl_error error;
};

static int set_up(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    pw_core_init(&scene->core, &frame, &scene->error);
    pw_unit_init(&scene->unit);
    scene->core.now_ms = NOW_MS;
    (void)add_run(&scene->core, PW_RELATION_ATTACHED, HELD);
    pw_core_begin_unit(&scene->core, &scene->unit);
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    struct scene *scene = *state;
    pw_unit_clear(&scene->unit);
    pw_core_clear(&scene->core);
    free(scene);
    return 0;
}

static const struct test_setting scene_setting = { set_up, tear_down, 0 };

static enum pw_refusal decide(struct scene *scene, struct pw_op op)
{
    struct pw_op *kept = pw_arena_take(&scene->core.arena, sizeof *kept); /* records point at ops */
    assert_non_null(kept);
    *kept = op;
    pawl_status status = pw_core_decide(&scene->core, kept);
    assert_int_equal(status, pw_refusal_status(scene->unit.refusal));
    return scene->unit.refusal;
}

static struct pw_op step_op(int64_t seq, bool is_new)
{
    return OP(STEP, step, .instance = KEY, .run = RUN, .is_new = is_new, .row = { .seq = seq, .name = text("s") });
}

TEST_OF(scene, a_step_is_updated_only_where_there_is_one)
{
    assert_int_equal(decide(scene, step_op(1, true)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, step_op(1, false)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, step_op(2, false)), PW_REFUSED_MOVED);
}

TEST_OF(scene, a_second_step_of_one_number_is_trouble_and_no_refusal)
{
    struct pw_op again = step_op(1, true);
    assert_int_equal(decide(scene, step_op(1, true)), PW_REFUSED_NOT);
    assert_int_equal(pw_core_decide(&scene->core, &again), PAWL_STORE_UNAVAILABLE);
    assert_int_equal(scene->unit.refusal, PW_REFUSED_NOT);
}

TEST_OF(scene, an_event_is_consumed_only_where_there_is_one)
{
    assert_int_equal(decide(scene, OP(EVENT, event, .instance = KEY, .run = RUN, .type = text("go"))), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(CONSUME, consume, .instance = KEY, .run = RUN, .seq = EVENTS + 1)),
                     PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(CONSUME, consume, .instance = KEY, .run = RUN, .seq = EVENTS + 2)),
                     PW_REFUSED_MOVED);
}

TEST_OF(scene, an_event_id_is_taken_once)
{
    struct pw_op event = OP(EVENT, event, .instance = KEY, .run = RUN, .id = text("e"), .type = text("go"));
    assert_int_equal(decide(scene, event), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, event), PW_REFUSED_EVENT_EXISTS);
}

TEST_OF(scene, log_lines_are_numbered_and_their_times_do_not_go_back)
{
    for (int i = 0; i < 2; i++)
        assert_int_equal(decide(scene, OP(LOG, log, .instance = KEY, .run = RUN,
                                          .row = { .created_at_ms = i == 0 ? LATER_MS : NOW_MS })),
                         PW_REFUSED_NOT);
    const struct pw_core_log *logs = scene->core.logs.rows;
    assert_int_equal(scene->core.logs.count, 2);
    assert_int_equal(logs[0].seq, 1);
    assert_int_equal(logs[1].seq, 2);
    assert_int_equal(logs[1].created_at_ms, LATER_MS);
}

TEST_OF(scene, a_create_needs_a_free_name)
{
    struct pw_op skipped = OP(CREATE, create, .workflow = text("w"), .id = text("i"), .skip_existing = true);
    int64_t *key = pw_rows_add(&scene->core.keys);
    assert_non_null(key);
    *key = KEY + 10;
    assert_int_equal(pw_core_decide(&scene->core, &skipped), PAWL_OK);
    assert_false(skipped.as.create.created);
    assert_int_equal(decide(scene, OP(CREATE, create, .workflow = text("w"), .id = text("j"))), PW_REFUSED_NOT);
    const struct pw_core_run *made = pw_find_task(&scene->core, KEY + 10);
    assert_non_null(made);
    assert_int_equal(made->change, PW_CORE_NEW);
    assert_int_equal(made->task.due_at_ms, NOW_MS);
    assert_int_equal(decide(scene, OP(CREATE, create, .workflow = text("w"), .id = text("i"))),
                     PW_REFUSED_INSTANCE_EXISTS);
}

/* R5, R6, R7 */
TEST_OF(scene, a_damaged_task_is_mended_before_a_rule_sees_it)
{
    struct pw_task nobodys = { .processing = true, .status = PW_TASK_ACTIVE, .locked_until_ms = UNTIL_MS };
    struct pw_task waiting = { .processing = true, .status = PW_TASK_WAITING, .owner = OWNER };
    struct pw_task repair = { .status = PW_TASK_ACTIVE, .kind = PW_TASK_REPAIR, .started_at_ms = NOW_MS };
    pw_task_mend(&nobodys);
    assert_false(nobodys.processing);
    assert_int_equal(nobodys.locked_until_ms, 0);
    pw_task_mend(&waiting);
    assert_false(waiting.processing);
    assert_int_equal(waiting.owner, 0);
    pw_task_mend(&repair);
    assert_int_equal(repair.kind, PW_TASK_RESUME);
    assert_int_equal(repair.updated_at_ms, NOW_MS);
    for (int now = DUE; now < STATES; now++) { /* what the engine writes stays as it is */
        struct pw_task task = task_in((enum state)now), before = task;
        pw_task_mend(&task);
        assert_memory_equal(&task, &before, sizeof task);
    }
}

TEST_OF(scene, a_refused_unit_takes_everything_back)
{
    struct pw_core_run before = *pw_find_task(&scene->core, KEY);
    pw_core_begin_unit(&scene->core, &scene->unit);
    assert_int_equal(decide(scene, OP(PARK, park, .instance = KEY, .status = PW_TASK_WAITING, .event_seq_seen = -1)),
                     PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(EVENT, event, .instance = KEY, .run = RUN, .type = text("go"))), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(LOG, log, .instance = KEY, .run = RUN)), PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(FENCE, fence, .at = fence_at(EPOCH))), PW_REFUSED_MOVED);

    pw_core_undo_unit(&scene->core);

    const struct pw_core_run *after = pw_find_task(&scene->core, KEY);
    assert_memory_equal(&before.task, &after->task, sizeof before.task);
    assert_false(after->is_changed);
    assert_int_equal(scene->core.logs.count, 0);
    assert_null(pw_want_event(&scene->core, KEY, RUN, EVENTS + 1)->insert);
}

TEST_OF(scene, a_restart_keeps_the_run_that_it_replaces_unless_the_unit_is_refused)
{
    const struct pw_core_earlier *earlier;
    scene->core.now_ms = UPDATED_MS - 1; /* the clock was set back */
    assert_int_equal(decide(scene, OP(RESTART, restart, .instance = KEY, .run = RUN)), PW_REFUSED_NOT);
    assert_int_equal(scene->core.earlier.count, 1);
    earlier = scene->core.earlier.rows;
    assert_int_equal(earlier->instance, KEY);
    assert_int_equal(earlier->row.run, RUN);
    assert_int_equal(earlier->row.outcome, PW_OUTCOME_TERMINATED);
    assert_true(pw_text_equal(earlier->row.error_name, text(PW_CUT_OFF_NAME)));
    assert_int_equal(earlier->row.started_at_ms, STARTED_MS);
    assert_int_equal(earlier->row.completed_at_ms, UPDATED_MS); /* R7 */

    pw_core_undo_unit(&scene->core);
    assert_int_equal(scene->core.earlier.count, 0);

    pw_core_begin_unit(&scene->core, &scene->unit);
    assert_int_equal(
        decide(scene, OP(FINISH, finish, .instance = KEY, .outcome = PW_OUTCOME_COMPLETE, .output = text("1"))),
        PW_REFUSED_NOT);
    assert_int_equal(decide(scene, OP(RESTART, restart, .instance = KEY, .run = RUN)), PW_REFUSED_NOT);
    earlier = scene->core.earlier.rows;
    assert_int_equal(earlier->row.outcome, PW_OUTCOME_COMPLETE);
    assert_true(pw_text_equal(earlier->row.output, text("1")));
    assert_null(earlier->row.error_name.data);
}

static pawl_status write_events(struct pw_core *core)
{
    struct pw_core_event **events = core->events.list.rows;
    for (size_t i = 0; i < core->events.list.count; i++) {
        events[i]->exists = true;
        events[i]->insert = NULL;
        events[i]->consume = NULL;
    }
    return PAWL_OK;
}

static pawl_status count_one(struct pw_core *core, const struct pw_core_run *run, int64_t max, int64_t *out_count)
{
    (void)core, (void)run, (void)max;
    *out_count = 1;
    return PAWL_OK;
}

TEST_OF(scene, an_event_that_is_taken_for_a_second_time_makes_no_room)
{
    const struct pw_frame with_one_unread = { .write = write_events, .count_unread = count_one };
    scene->core.frame = &with_one_unread;
    struct pw_core_event *taken_before = pw_want_event(&scene->core, KEY, RUN, EVENTS);
    assert_non_null(taken_before);
    taken_before->exists = true;

    assert_int_equal(decide(scene, OP(CONSUME, consume, .instance = KEY, .run = RUN, .seq = EVENTS)), PW_REFUSED_NOT);

    assert_int_equal(decide(scene, OP(EVENT, event, .instance = KEY, .run = RUN, .type = text("go"), .unread_max = 1)),
                     PW_REFUSED_TOO_MANY_EVENTS);
}

TEST_OF(scene, a_claim_counts_the_params_of_a_run_that_the_batch_made)
{
    const struct pw_frame finding = { .load_claimable = load_nothing };
    struct pw_rows dues = { .arena = &scene->core.arena, .row_size = sizeof(struct pw_core_due) };
    struct pw_rows claims = { .arena = &scene->core.arena, .row_size = sizeof(struct pw_claim) };
    struct pw_op_claim claim = { .bytes_max = 5, .owner = OWNER, .lease_ms = LEASE_MS };
    scene->core.frame = &finding;
    for (int64_t i = 0; i < 3; i++) {
        static const char *const ids[] = { "a", "b", "c" };
        int64_t *key = pw_rows_add(&scene->core.keys);
        struct pw_core_due *due = pw_rows_add(&dues);
        assert_true(key != NULL && due != NULL);
        *key = KEY + 10 + i;
        *due = (struct pw_core_due){ *key, NOW_MS };
        assert_int_equal(
            decide(scene, OP(CREATE, create, .workflow = text("w"), .id = text(ids[i]), .params = text("null"))),
            PW_REFUSED_NOT);
    }

    assert_int_equal(pw_core_claim(&scene->core, &claim, &dues, 3, &claims), PAWL_OK);

    assert_int_equal(claims.count, 2);
    assert_int_equal(claim.bytes, 8);
}
