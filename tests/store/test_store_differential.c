/* test_store_differential.c - random units of work through the memory store, SQLite, PostgreSQL and a model at the same
 * simulated time: each answer and every row that can be read must be the same on all.
 *
 *   test_store_differential [<sequences> [<first seed> [<flaw>]]]
 *
 * Units are made four times from the same stream of chance, once for each side, because keys differ; nothing else may.  A
 * sequence has workflows, hooks and a table of the user's of its own, so that the stores grow along the way.  With a flaw
 * (differential.h) the memory store breaks a rule, and must be found out. */
#include "differential.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/wait.h>

#include "memory/store.h"
#include "kit/postgres_server.h"
#include "same_rows.h"
#include "store_model.h"

enum {
    SEQUENCES_DEFAULT = 14,
    SEQUENCES_MAX = 400, /* until a flaw is found */
};

static const char *const side_names[SIDES] = { "in memory", "in SQLite", "in PostgreSQL", "in the model" };

/* ---- The user's table, in memory ------------------------------------------------------------------------------------- */

/* The two statements that do something, and parameters like ["a", 1]; the others fail. */
static enum pw_refusal run_sql(struct pw_store *store, const struct pw_op_sql *op)
{
    bool inserts = strstr(op->sql.data, "INSERT INTO differential") != NULL;
    const char *second = op->parameters.data != NULL ? strchr(op->parameters.data, ',') : NULL;
    if (second == NULL || (!inserts && strstr(op->sql.data, "UPDATE differential") == NULL))
        return PW_REFUSED_MUTATION_FAILED;
    struct memory_entry given = { .table = pw_text_of("differential"),
                                  .id = { op->parameters.data + 2, 1 },
                                  .has_number = strstr(second, "null") == NULL,
                                  .number = strtoll(second + 1, NULL, 10) };
    const struct memory_entry *there = memory_ledger_find(store, given.table, given.id);
    if (inserts && there != NULL)
        return PW_REFUSED_UNIQUE;
    if (inserts) {
        assert_true(memory_ledger_add(store, &given));
    } else if (there != NULL) {
        bool has_number = there->has_number && given.has_number;
        assert_true(memory_ledger_set(store, there, has_number, has_number ? there->number + given.number : 0));
    }
    return PW_REFUSED_NOT;
}

static int64_t ledger_sum(const struct pw_store *store)
{
    const struct memory_entry *entry;
    int64_t sum = 0;
    for (size_t i = 0; (entry = memory_ledger_at(store, i)) != NULL; i++)
        sum += 1000 + (entry->has_number ? entry->number : 0);
    return sum;
}

/* ---- Applying -------------------------------------------------------------------------------------------------------- */

/* As the committer does: what failed as a whole, and is undone, is applied one by one. */
static void apply_together(struct side *side, struct pw_unit **units, size_t count)
{
    struct pawl_error error = { PAWL_OK, "" };
    if (side->store->ops->apply(side->store, units, count, &error) == PAWL_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        assert_true(units[i]->undone);
        pawl_status status = side->store->ops->apply(side->store, &units[i], 1, &error);
        if (status != PAWL_OK)
            units[i]->error = error;
        if (status != PAWL_OK)
            units[i]->status = status;
    }
}

/* And what is of different queues never goes together. */
static void apply(struct side *side, size_t count)
{
    const struct pw_store_ops *ops = side->store->ops;
    struct pw_unit *units[UNITS_MAX];
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        units[i] = &side->units[i];
        if (i > 0 && ops->queue_of != NULL &&
            ops->queue_of(side->store, units[i]) != ops->queue_of(side->store, units[first])) {
            apply_together(side, &units[first], i - first);
            first = i;
        }
    }
    apply_together(side, &units[first], count - first);
}

/* ---- Comparing answers ------------------------------------------------------------------------------------------------ */

static void compare_deliveries(const struct pw_op_hook_claim *left, const struct pw_op_hook_claim *right)
{
    assert_int_equal(left->row_count, right->row_count);
    for (size_t i = 0; i < left->row_count; i++)
        assert_same_hook(&left->rows[i], &right->rows[i]);
}

static void compare_events(const struct pw_op_event *left, const struct pw_op_event *right)
{
    assert_int_equal(left->recorded, right->recorded);
    assert_int_equal(left->woke, right->woke);
    if (left->recorded)
        assert_int_equal(left->seq, right->seq);
    if (!left->recorded)
        return;
    assert_int_equal(left->told.run, right->told.run);
    assert_int_equal(left->told.epoch, right->told.epoch);
    assert_true(pw_rows_equal(&pw_task_type, &left->task, &right->task));
    assert_int_equal(left->is_held, right->is_held);
    if (left->is_held)
        assert_same_claim(&left->claim, &right->claim);
}

static void compare_ops(const struct pw_op *left, const struct pw_op *right)
{
    switch (left->kind) {
    case PW_OP_FENCE:
        assert_int_equal(left->as.fence.pause_requested, right->as.fence.pause_requested);
        assert_int_equal(left->as.fence.demand, right->as.fence.demand);
        assert_int_equal(left->as.fence.event_seq, right->as.fence.event_seq);
        break;
    case PW_OP_CREATE:
        assert_int_equal(left->as.create.created, right->as.create.created);
        assert_int_equal(left->as.create.fence.run, right->as.create.fence.run);
        assert_int_equal(left->as.create.fence.epoch, right->as.create.fence.epoch);
        assert_int_equal(left->as.create.created_at_ms, right->as.create.created_at_ms);
        break;
    case PW_OP_EVENT:
        compare_events(&left->as.event, &right->as.event);
        break;
    case PW_OP_FINISH:
        assert_int_equal(left->as.finish.reach.reached, right->as.finish.reach.reached);
        if (left->as.finish.answer != NULL)
            compare_events(left->as.finish.answer, right->as.finish.answer);
        break;
    case PW_OP_CONTROL:
        assert_int_equal(left->as.control.is_done, right->as.control.is_done);
        assert_int_equal(left->as.control.is_asked, right->as.control.is_asked);
        assert_int_equal(left->as.control.at.run, right->as.control.at.run);
        assert_int_equal(left->as.control.is_held, right->as.control.is_held);
        if (left->as.control.is_held)
            assert_same_claim(&left->as.control.claim, &right->as.control.claim);
        break;
    case PW_OP_END:
        assert_int_equal(left->as.end.instance == 0, right->as.end.instance == 0);
        break;
    case PW_OP_PARK:
        assert_int_equal(left->as.park.due_at_ms_set, right->as.park.due_at_ms_set);
        assert_int_equal(left->as.park.status_set, right->as.park.status_set);
        break;
    case PW_OP_HOLD:
        assert_same_claim(&left->as.hold.claim, &right->as.hold.claim);
        break;
    case PW_OP_CLAIM:
        assert_int_equal(left->as.claim.claim_count, right->as.claim.claim_count);
        for (size_t i = 0; i < left->as.claim.claim_count; i++)
            assert_same_claim(&left->as.claim.claims[i], &right->as.claim.claims[i]);
        break;
    case PW_OP_RENEW:
        for (size_t i = 0; i < left->as.renew.count; i++) {
            assert_int_equal(left->as.renew.leases[i].lost, right->as.renew.leases[i].lost);
            assert_int_equal(left->as.renew.leases[i].pause_requested, right->as.renew.leases[i].pause_requested);
            assert_int_equal(left->as.renew.leases[i].demand, right->as.renew.leases[i].demand);
        }
        break;
    case PW_OP_HOOK_CLAIM:
        compare_deliveries(&left->as.hook_claim, &right->as.hook_claim);
        break;
    case PW_OP_HOOK_SETTLE:
        assert_int_equal(left->as.hook_settle.lost, right->as.hook_settle.lost);
        break;
    case PW_OP_HOOK_RESEND:
        assert_int_equal(left->as.hook_resend.found, right->as.hook_resend.found);
        break;
    default:
        break;
    }
}

/* Keys of instances differ from store to store. */
static void compare_effects(const struct pw_effect *left, const struct pw_effect *right)
{
    for (; left != NULL && right != NULL; left = left->next, right = right->next) {
        assert_int_equal(left->kind, right->kind);
        assert_int_equal(left->is_job, right->is_job);
        assert_int_equal(left->run, right->run);
        switch (left->kind) {
        case PW_EFFECT_BEGUN:
        case PW_EFFECT_PARKED:
        case PW_EFFECT_HELD:
        case PW_EFFECT_WOKEN:
            assert_int_equal(left->as.due.reason, right->as.due.reason);
            assert_int_equal(left->as.due.at_ms, right->as.due.at_ms);
            break;
        case PW_EFFECT_ENDED:
            assert_int_equal(left->as.end.outcome, right->as.end.outcome);
            assert_int_equal(left->as.end.started_at_ms, right->as.end.started_at_ms);
            assert_int_equal(left->as.end.completed_at_ms, right->as.end.completed_at_ms);
            assert_true(pw_text_equal(left->as.end.error_name, right->as.end.error_name));
            break;
        case PW_EFFECT_EVENT:
            assert_int_equal(left->as.event.seq, right->as.event.seq);
            assert_int_equal(left->as.event.is_answer, right->as.event.is_answer);
            assert_int_equal(left->as.event.has_woken, right->as.event.has_woken);
            break;
        case PW_EFFECT_STEP:
            assert_int_equal(left->as.step->seq, right->as.step->seq);
            break;
        case PW_EFFECT_CHANGED:
            break;
        }
    }
    assert_true(left == NULL && right == NULL);
}

/* What a refused unit's ops say is nobody's business. */
static void compare_unit(const struct trial *trial, size_t number, size_t side)
{
    const struct pw_unit *left = &trial->sides[IN_MEMORY].units[number], *right = &trial->sides[side].units[number];
    /* A store may give up the whole transaction instead of the one unit: then there is a status and no refusal. */
    bool is_refused_alike = right->refusal == PW_REFUSED_NOT || left->refusal == right->refusal;
    if (left->status != right->status || !is_refused_alike)
        fail_msg("unit %zu: %s (%s) %s, %s (%s) %s", number, pawl_status_name(left->status), left->error.text,
                 side_names[IN_MEMORY], pawl_status_name(right->status), right->error.text, side_names[side]);
    const struct pw_op *other = right->first;
    for (const struct pw_op *op = left->first; op != NULL && left->status == PAWL_OK; op = op->next) {
        compare_ops(op, other);
        other = other->next;
    }
    if (left->status == PAWL_OK)
        compare_effects(left->effects, right->effects);
}

static void compare_answers(const struct trial *trial, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t side = 1; side < SIDES; side++)
            compare_unit(trial, i, side);
}

/* ---- What there is by now ------------------------------------------------------------------------------------------- */

static void note_instance(struct trial *trial, const struct pw_op *const *ops)
{
    const struct pw_op_create *create = &ops[IN_MEMORY]->as.create;
    if (!create->created || trial->subject_count == SUBJECTS_MAX)
        return;
    struct subject *subject = &trial->subjects[trial->subject_count++];
    *subject = (struct subject){ .run = 0 };
    for (size_t s = 0; s < SIDES; s++)
        subject->key[s] = ops[s]->as.create.fence.instance;
    (void)snprintf(subject->id, sizeof subject->id, "%s", create->id.data);
    subject->workflow = trial->workflows[pw_text_equal(create->workflow, trial->workflows[0]) ? 0 : 1];
}

static void note_deliveries(struct trial *trial, const struct pw_op *const *ops)
{
    const struct pw_op_hook_claim *claim = &ops[IN_MEMORY]->as.hook_claim;
    for (size_t i = 0; i < claim->row_count && trial->delivery_count < DELIVERIES_MAX; i++) {
        struct delivery *delivery = &trial->deliveries[trial->delivery_count++];
        delivery->epoch = claim->rows[i].epoch;
        for (size_t s = 0; s < SIDES; s++)
            delivery->key[s] = ops[s]->as.hook_claim.rows[i].key;
    }
}

/* What was created or claimed is spoken of from now on. */
static void note_answers(struct trial *trial, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pw_op *ops[SIDES];
        for (size_t s = 0; s < SIDES; s++)
            ops[s] = trial->sides[s].units[i].first;
        while (ops[IN_MEMORY] != NULL && trial->sides[IN_MEMORY].units[i].status == PAWL_OK) {
            if (ops[IN_MEMORY]->kind == PW_OP_CREATE)
                note_instance(trial, ops);
            if (ops[IN_MEMORY]->kind == PW_OP_HOOK_CLAIM)
                note_deliveries(trial, ops);
            for (size_t s = 0; s < SIDES; s++)
                ops[s] = ops[s]->next;
        }
    }
}

/* ---- Comparing rows ---------------------------------------------------------------------------------------------------- */

/* Rows of one kind from all sides: calls the function, compares the counts, then row by row. */
#define COMPARE_LISTS(...) COMPARE_LISTS_OF(SIDES, __VA_ARGS__)
#define COMPARE_PAGES(...) COMPARE_LISTS_OF(STORES, __VA_ARGS__)
#define COMPARE_LISTS_OF(sides_count, trial, type, compare, function, ...)                                             \
    do {                                                                                                               \
        type *rows[SIDES] = { NULL };                                                                                  \
        size_t counts[SIDES] = { 0 };                                                                                  \
        for (size_t s = 0; s < (sides_count); s++) {                                                                   \
            struct side *side = &(trial)->sides[s];                                                                    \
            assert_int_equal(function(side->store, &side->arena, __VA_ARGS__, &rows[s], &counts[s], NULL), PAWL_OK);   \
            assert_int_equal(counts[IN_MEMORY], counts[s]);                                                            \
            for (size_t row = 0; row < counts[s] && s != IN_MEMORY; row++)                                             \
                compare(&rows[IN_MEMORY][row], &rows[s][row]);                                                         \
        }                                                                                                              \
    } while (0)

static void compare_history(struct trial *trial, const struct subject *subject, int64_t run)
{
    struct pw_history_query queries[SIDES];
    bool newest = trial_once_in(trial, 2);
    for (size_t s = 0; s < SIDES; s++)
        queries[s] =
            (struct pw_history_query){ .instance = subject->key[s], .run = run, .newest_first = newest, .max = 1000 };
    COMPARE_LISTS(trial, struct pw_step_row, assert_same_step_row, pw_read_steps, &queries[s]);
    COMPARE_LISTS(trial, struct pw_event_row, assert_same_event, pw_read_events, &queries[s]);
    COMPARE_LISTS(trial, struct pw_log_row, assert_same_log, pw_read_logs, &queries[s]);
    COMPARE_LISTS(trial, struct pw_step_row, assert_same_step_row, pw_read_waiting_steps, &queries[s]);
    COMPARE_LISTS(trial, struct pw_event_row, assert_same_event, pw_read_new_events, subject->key[s], run, 0);
}

/* Some rows of each kind, bounded by their number or by the bytes of their payloads. */
static void compare_pages(struct trial *trial, const struct subject *subject)
{
    struct pw_history_query queries[SIDES], query = { .run = subject->run };
    query.newest_first = trial_once_in(trial, 2);
    query.after_seq = trial_below(trial, 4);
    query.max = (size_t)(1 + trial_below(trial, 5));
    query.bytes_max = trial_once_in(trial, 2) ? (size_t)(1 + trial_below(trial, 30)) : 0;
    query.has_level = trial_once_in(trial, 3);
    query.level = (enum pawl_log_level)trial_below(trial, 4);
    query.category = trial_once_in(trial, 4) ? pw_text_of("system") : (struct pw_text){ NULL, 0 };
    for (size_t s = 0; s < SIDES; s++) {
        queries[s] = query;
        queries[s].instance = subject->key[s];
    }
    COMPARE_PAGES(trial, struct pw_earlier_run, assert_same_earlier_run, pw_read_earlier_runs, &queries[s]);
    COMPARE_PAGES(trial, struct pw_step_row, assert_same_step_row, pw_read_steps, &queries[s]);
    COMPARE_PAGES(trial, struct pw_event_row, assert_same_event, pw_read_events, &queries[s]);
    COMPARE_PAGES(trial, struct pw_log_row, assert_same_log, pw_read_logs, &queries[s]);
    COMPARE_PAGES(trial, struct pw_event_row, assert_same_event, pw_read_new_events, subject->key[s], subject->run,
                  query.after_seq);
}

/* The instance by its key, by its name and among several, and one of its events by its id. */
static void compare_found(struct trial *trial, const struct subject *subject)
{
    struct pw_event_row events[SIDES];
    struct pw_instance by_key[SIDES], by_name[SIDES], *several[SIDES];
    bool is_found[SIDES];
    char id[48];
    (void)snprintf(id, sizeof id, "e-%" PRIu64 "-%d", trial->seed, (int)trial_below(trial, 9));
    for (size_t s = 0; s < STORES; s++) {
        struct pw_store *store = trial->sides[s].store;
        struct pw_arena *arena = &trial->sides[s].arena;
        const int64_t keys[] = { trial->nobody.key[s], subject->key[s] };
        const struct pw_instances_wanted wanted_keys = { .keys = keys, .count = 2 };
        assert_int_equal(pw_read_instance_by_key(store, arena, keys[1], &by_key[s], NULL), PAWL_OK);
        assert_int_equal(pw_read_instance_by_key(store, arena, keys[0], &by_name[s], NULL), PAWL_INSTANCE_NOT_FOUND);
        assert_int_equal(pw_read_instance(store, arena, subject->workflow, pw_text_of(subject->id), &by_name[s], NULL),
                         PAWL_OK);
        assert_int_equal(pw_read_instances(store, arena, &wanted_keys, &several[s], NULL), PAWL_OK);
        assert_int_equal(several[s][0].key, 0);
        assert_same_instance(&by_key[IN_MEMORY], &by_key[s]);
        assert_same_instance(&by_key[IN_MEMORY], &by_name[s]);
        assert_same_instance(&by_key[IN_MEMORY], &several[s][1]);
        assert_int_equal(
            pw_read_event(store, arena, subject->key[s], subject->run, pw_text_of(id), &events[s], &is_found[s], NULL),
            PAWL_OK);
        assert_int_equal(is_found[IN_MEMORY], is_found[s]);
        if (is_found[s])
            assert_same_event(&events[IN_MEMORY], &events[s]);
    }
}

static int64_t newest_step(struct trial *trial, const struct subject *subject)
{
    struct side *side = &trial->sides[IN_MEMORY];
    struct pw_history_query query = {
        .instance = subject->key[IN_MEMORY], .run = subject->run, .newest_first = true, .max = 1
    };
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    assert_int_equal(pw_read_steps(side->store, &side->arena, &query, &rows, &count, NULL), PAWL_OK);
    return count > 0 ? rows[0].seq : 0;
}

/* Who made it is the same one everywhere, and each side's key of it the side's own. */
static void compare_parents(struct trial *trial, const struct pw_instance *rows)
{
    const struct subject *parent = NULL;
    for (size_t i = 0; i < trial->subject_count && parent == NULL; i++)
        if (trial->subjects[i].key[IN_MEMORY] == rows[IN_MEMORY].link.parent)
            parent = &trial->subjects[i];
    for (size_t s = 0; s < SIDES && rows[IN_MEMORY].link.parent != 0; s++) {
        assert_non_null(parent);
        assert_int_equal(rows[s].link.parent, parent->key[s]);
    }
}

static void compare_children(struct trial *trial, const struct subject *subject)
{
    struct pw_instance_query queries[SIDES];
    bool oldest_first = trial_once_in(trial, 2);
    for (size_t s = 0; s < SIDES; s++)
        queries[s] = (struct pw_instance_query){
            .by = PW_BY_PARENT, .number = subject->key[s], .oldest_first = oldest_first, .max = 100
        };
    COMPARE_LISTS(trial, struct pw_instance, assert_same_instance, pw_list_instances, &queries[s]);
}

static void compare_earlier_runs(struct trial *trial, const struct subject *subject)
{
    struct pw_history_query queries[SIDES];
    bool newest = trial_once_in(trial, 2);
    for (size_t s = 0; s < SIDES; s++)
        queries[s] = (struct pw_history_query){ .instance = subject->key[s], .newest_first = newest, .max = 1000 };
    COMPARE_LISTS(trial, struct pw_earlier_run, assert_same_earlier_run, pw_read_earlier_runs, &queries[s]);
}

static void compare_subject(struct trial *trial, struct subject *subject)
{
    struct pw_instance rows[SIDES];
    struct pw_step_row steps[SIDES];
    bool has_step[SIDES];
    for (size_t s = 0; s < SIDES; s++) {
        struct side *side = &trial->sides[s];
        assert_int_equal(pw_read_current(side->store, &side->arena, subject->workflow, pw_text_of(subject->id),
                                         &rows[s], &steps[s], &has_step[s], NULL),
                         PAWL_OK);
        assert_int_equal(rows[s].key, subject->key[s]);
        assert_same_instance(&rows[IN_MEMORY], &rows[s]);
        assert_int_equal(has_step[IN_MEMORY], has_step[s]);
        if (has_step[IN_MEMORY])
            assert_same_step_row(&steps[IN_MEMORY], &steps[s]);
    }
    compare_parents(trial, rows);
    compare_children(trial, subject);
    compare_earlier_runs(trial, subject);
    for (int64_t run = 1; run <= rows[IN_MEMORY].run; run++)
        compare_history(trial, subject, run);
    subject->run = rows[IN_MEMORY].run;
    subject->epoch = rows[IN_MEMORY].task.epoch;
    subject->event_seq = rows[IN_MEMORY].task.event_seq;
    subject->steps = newest_step(trial, subject);
    compare_pages(trial, subject);
    compare_found(trial, subject);
}

/* A few instances past one of them. */
static void compare_instance_pages(struct trial *trial)
{
    struct pw_instance_query queries[SIDES], query = { .workflow = trial->workflows[trial_below(trial, 2)] };
    const struct subject *after = &trial->subjects[trial_below(trial, (int64_t)trial->subject_count)];
    query.oldest_first = trial_once_in(trial, 2);
    query.max = (size_t)(1 + trial_below(trial, 4));
    query.bytes_max = trial_once_in(trial, 2) ? (size_t)(1 + trial_below(trial, 30)) : 0;
    for (size_t s = 0; s < SIDES; s++) {
        queries[s] = query;
        queries[s].after_key = after->key[s];
    }
    COMPARE_PAGES(trial, struct pw_instance, assert_same_instance, pw_list_instances, &queries[s]);
}

static void compare_lists(struct trial *trial)
{
    if (trial->subject_count > 0)
        compare_instance_pages(trial);
    for (size_t w = 0; w < 2; w++) {
        struct pw_instance_query query = { .workflow = trial->workflows[w], .max = 100 };
        query.oldest_first = trial_once_in(trial, 2);
        if (trial_once_in(trial, 3)) {
            query.by = PW_BY_VERSION;
            query.text = pw_text_of(trial_once_in(trial, 2) ? "1.0" : "2");
        } else if (trial_once_in(trial, 2))
            pw_list_by_status(&query, (enum pawl_instance_status)trial_below(trial, 6));
        COMPARE_LISTS(trial, struct pw_instance, assert_same_instance, pw_list_instances, &query);
        struct pw_hook_query hooks = { .hook = trial->hooks[w], .max = 100 };
        hooks.has_status = trial_once_in(trial, 2);
        hooks.status = trial_once_in(trial, 2) ? PAWL_DELIVERY_PENDING : PAWL_DELIVERY_FAILED;
        COMPARE_LISTS(trial, struct pw_hook_row, assert_same_hook, pw_list_hooks, &hooks);
    }
}

static int64_t sum_of(struct trial *trial, size_t side)
{
    if (side == IN_MODEL)
        return store_model_sum(trial->sides[side].store);
    if (side == IN_MEMORY)
        return ledger_sum(trial->sides[side].store);
    return query_number(&trial->fixtures[side], "SELECT coalesce(sum(n), 0) + 1000 * count(*) FROM differential");
}

static struct pw_found read_numbers(struct pw_store *store, const struct pw_read *asked)
{
    struct pw_found found;
    assert_int_equal(pw_read(store, asked, NULL, &found, NULL), PAWL_OK);
    return found;
}

static void compare_totals(struct trial *trial)
{
    int64_t due[SIDES], later[SIDES], own[SIDES], sums[SIDES];
    struct pw_found hooks[SIDES], counts[SIDES], statuses[SIDES];
    const struct pw_read next_hook = { .kind = PW_READ_NEXT_HOOK, .names = { .names = trial->hooks, .count = 2 } };
    const struct pw_read count_tasks = { .kind = PW_READ_TASK_COUNTS, .now_ms = trial->now_ms };
    const struct pw_read count_statuses = { .kind = PW_READ_STATUS_COUNTS,
                                            .names = { trial->workflows, 2, 1 + trial_below(trial, 4) } };
    for (size_t s = 0; s < SIDES; s++) {
        struct pw_store *store = trial->sides[s].store;
        struct pw_share share = trial_share(trial, s);
        assert_int_equal(pw_next_due(store, trial->workflows, 2, NULL, PW_EVER, &due[s], NULL), PAWL_OK);
        assert_int_equal(pw_next_due(store, trial->workflows, 2, NULL, due[IN_MEMORY], &later[s], NULL), PAWL_OK);
        assert_int_equal(pw_next_due(store, trial->workflows, 2, &share, PW_EVER, &own[s], NULL), PAWL_OK);
        hooks[s] = read_numbers(store, &next_hook);
        counts[s] = read_numbers(store, &count_tasks);
        statuses[s] = read_numbers(store, &count_statuses);
        sums[s] = sum_of(trial, s);
        assert_true(due[IN_MEMORY] == due[s]);
        assert_true(later[IN_MEMORY] == later[s]);
        assert_true(own[IN_MEMORY] == own[s]);
        assert_true(hooks[IN_MEMORY].at_ms == hooks[s].at_ms);
        assert_int_equal(sums[IN_MEMORY], sums[s]);
        assert_memory_equal(&counts[IN_MEMORY].tasks, &counts[s].tasks, sizeof counts[s].tasks);
        assert_memory_equal(&statuses[IN_MEMORY].statuses, &statuses[s].statuses, sizeof statuses[s].statuses);
    }
}

static void compare_state(struct trial *trial)
{
    for (size_t i = 0; i < trial->subject_count; i++)
        compare_subject(trial, &trial->subjects[i]);
    compare_lists(trial);
    compare_totals(trial);
    for (size_t s = 0; s < SIDES; s++)
        pw_arena_clear(&trial->sides[s].arena);
}

/* ---- Sequences ----------------------------------------------------------------------------------------------------------- */

static void begin_sequence(struct trial *trial, uint64_t seed)
{
    trial->seed = trial->chance = seed;
    trial->subject_count = trial->delivery_count = 0;
    trial->numbers = 0;
    trial->uses_up = trial_once_in(trial, 2);
    trial->owner = trial_once_in(trial, 2) ? OWNER : FIXTURE_OUTSIDE;
    int64_t nowhere = (INT64_C(1) << 40) + (int64_t)seed;
    trial->nobody = (struct subject){ .key = { nowhere, nowhere, nowhere, nowhere }, .run = 1 };
    for (size_t shard = 0; shard < PW_SHARD_COUNT; shard++)
        trial->owned_shards[shard] = (shard * 7 + seed) % 3 == 0 ? '0' : '1';
    trial->owned[0] = (struct pw_text){ trial->owned_shards, PW_SHARD_COUNT };
    trial->owned[1] = (struct pw_text){ NULL, 0 };
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(trial->workflow_names[i], sizeof trial->workflow_names[i], "w%zu-%" PRIu64, i, seed);
        (void)snprintf(trial->hook_names[i], sizeof trial->hook_names[i], "h%zu-%" PRIu64, i, seed);
        trial->workflows[i] = pw_text_of(trial->workflow_names[i]);
        trial->hooks[i] = pw_text_of(trial->hook_names[i]);
        trial->wanted[i] = (struct pw_hook_wanted){ trial->hooks[i], 100 + (int64_t)i * 200 };
    }
    trial_make_ids(trial);
    memory_store_reset(trial->sides[IN_MEMORY].store);
    store_model_reset(trial->sides[IN_MODEL].store);
    for (size_t s = IN_SQLITE; s < STORES; s++)
        run_raw_sql(&trial->fixtures[s],
                    "DELETE FROM differential; DELETE FROM workflow_task; DELETE FROM workflow_hook");
}

static void play(struct trial *trial, uint64_t seed)
{
    begin_sequence(trial, seed);
    for (int64_t batches = 1 + trial_below(trial, BATCHES_MAX); batches > 0; batches--) {
        trial->now_ms += trial_once_in(trial, 3) ? 0 : trial_below(trial, 600);
        if (trial_once_in(trial, 12))
            trial->now_ms -= trial_below(trial, 3000); /* somebody sets the clock back */
        size_t count = trial_make_batch(trial);
        for (size_t s = 0; s < SIDES; s++)
            apply(&trial->sides[s], count);
        compare_answers(trial, count);
        note_answers(trial, count);
        for (size_t s = 0; s < SIDES; s++)
            for (size_t i = 0; i < count; i++)
                pw_unit_clear(&trial->sides[s].units[i]);
        compare_state(trial);
    }
}

static struct {
    uint64_t sequences, first_seed, playing;
    enum flaw flaw;
} wanted = { SEQUENCES_DEFAULT, 1, 0, FLAW_NONE };

static int64_t trial_now(void *user)
{
    return ((struct trial *)user)->now_ms;
}

static void open_sides(struct trial *trial)
{
    static const enum test_store stores[STORES] = { [IN_SQLITE] = STORE_IN_MEMORY, [IN_POSTGRES] = STORE_IN_POSTGRES };
    const struct pawl_clock clock = { .now_ms = trial_now, .user = trial };
    trial->sides[IN_MEMORY].store = memory_store_new(clock);
    assert_non_null(trial->sides[IN_MEMORY].store);
    memory_store_set_sql(trial->sides[IN_MEMORY].store, run_sql);
    flaw_plant(trial->sides[IN_MEMORY].store, wanted.flaw);
    trial->sides[IN_MODEL].store = store_model_new(clock);
    for (size_t s = IN_SQLITE; s < STORES; s++) {
        struct fixture *fixture = &trial->fixtures[s];
        store_place_make(&fixture->place, stores[s]);
        assert_int_equal(pw_store_open(fixture->place.url, clock, &trial->sides[s].store, &fixture->error), PAWL_OK);
        fixture->store = trial->sides[s].store;
        run_raw_sql(fixture, "CREATE TABLE differential (id TEXT PRIMARY KEY, n BIGINT)");
    }
}

TEST(the_stores_answer_alike_and_end_alike)
{
    struct trial *trial = calloc(1, sizeof *trial);
    assert_non_null(trial);
    trial->now_ms = INT64_C(1700000000000);
    open_sides(trial);
    for (uint64_t i = 0; i < wanted.sequences; i++) {
        wanted.playing = wanted.first_seed + i;
        play(trial, wanted.playing);
    }
    for (size_t s = 0; s < SIDES; s++)
        trial->sides[s].store->ops->close(trial->sides[s].store);
    free(trial);
}

/* This program again, in a process of its own, because it ends at the first difference. */
static int exit_code_with(enum flaw flaw)
{
    char number[16], sequences[16];
    int status = 0;
    (void)snprintf(number, sizeof number, "%d", (int)flaw);
    (void)snprintf(sequences, sizeof sequences, "%d", SEQUENCES_MAX);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        if (nothing >= 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2)
            (void)execl("/proc/self/exe", "differential", sequences, "1", number, (char *)NULL);
        _exit(99);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(a_rule_that_one_side_breaks_is_found)
{
    (void)postgres_server_socket(); /* one for all */
    for (int flaw = FLAW_NONE + 1; flaw < FLAW_COUNT; flaw++) {
        int code = exit_code_with((enum flaw)flaw);
        if (code != 1)
            fail_msg("flaw %d: %d", flaw, code);
    }
}

int main(int count, char **arguments)
{
    if (count > 1)
        wanted.sequences = strtoull(arguments[1], NULL, 10);
    if (count > 2)
        wanted.first_seed = strtoull(arguments[2], NULL, 10);
    if (count > 3)
        wanted.flaw = (enum flaw)strtol(arguments[3], NULL, 10);
    if (count > 3) /* only this one: the other would begin again for ever */
        cmocka_set_test_filter("the_stores_*");
    int failed = test_run_all();
    print_message("the last seed was %" PRIu64 ": test_store_differential 1 %" PRIu64 "\n", wanted.playing,
                  wanted.playing);
    return failed;
}
