/* load.c - reads the rows that a batch needs, before any rule runs.  Each is found by its key or by a unique index.
 *
 * pw_sqlite_load() has a table of what to load, in order.  Loading one kind may want records of a later kind: a
 * control, for example, wants the children that it concerns. */
#include "base/error.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/read.h"

static pawl_status no_memory(struct pw_batch *batch)
{
    return pw_error_plain(batch->core.error, PAWL_NOMEM);
}

/* ---- Runs ------------------------------------------------------------------------------------------------------------- */

static void take_task(struct pw_query *query, struct pw_core_run *run)
{
    run->has_task = run->is_stored = true;
    run->run = pw_column_count(query);
    pw_read_task(query, &run->task);
    run->stored = run->task;
    pw_task_mend(&run->task);
}

static void take_facts(struct pw_query *query, struct pw_arena *arena, bool with_params, struct pw_core_run *run)
{
    run->workflow = pw_column_text(query, arena);
    run->id = pw_column_text(query, arena);
    run->created_at_ms = pw_column_time(query);
    pw_read_link(query, &run->link);
    run->params = pw_column_text(query, arena);
    run->has_params = with_params;
    run->texts = arena;
}

static pawl_status load_task(struct pw_batch *batch, struct pw_core_run *run)
{
    struct pw_query query;
    if (pw_hot_load(&batch->sqlite->hot, run))
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_LOAD, PW_VALUES(pw_int(run->key)));
    if (pw_query_step(&query))
        take_task(&query, run);
    return pw_query_end(&query, batch->core.error);
}

/* Loads the task and its instance with one statement, and the params if nobody has claimed the run yet. */
static pawl_status load_whole(struct pw_batch *batch, struct pw_core_run *run, struct pw_arena *arena, bool with_size)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_TASK_LOAD_WHOLE, PW_VALUES(pw_int(run->key), pw_int(with_size)));
    if (pw_query_step(&query)) {
        take_task(&query, run);
        take_facts(&query, arena, run->task.started_at_ms == 0, run);
        run->params_bytes = (size_t)pw_column_count(&query);
    }
    return pw_query_end(&query, batch->core.error);
}

/* Loads the instance of a run that may have ended. */
static pawl_status load_instance(struct pw_batch *batch, struct pw_core_run *run)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_LOAD,
                   PW_VALUES(pw_int(run->key), pw_int(run->wants_facts)));
    run->is_known = pw_query_step(&query);
    if (run->is_known) {
        take_facts(&query, &batch->core.arena, run->wants_facts, run);
        run->instance_run = pw_column_count(&query);
        run->updated_at_ms = pw_column_time(&query);
        run->outcome = (enum pw_outcome)pw_column_choice(&query, PW_OUTCOME_ERRORED);
        run->started_at_ms = pw_column_time(&query);
        run->completed_at_ms = pw_column_time(&query);
        run->output = pw_column_text(&query, &batch->core.arena);
        run->error_name = pw_column_text(&query, &batch->core.arena);
        run->error_message = pw_column_text(&query, &batch->core.arena);
        pw_column_row(&query, &batch->core.arena, &pw_terms_type, &run->terms);
    }
    return pw_query_end(&query, batch->core.error);
}

static pawl_status load_run(struct pw_batch *batch, void *record)
{
    struct pw_core_run *run = record;
    if (run->is_loaded && !run->wants_facts && !run->wants_instance)
        return PAWL_OK;
    run->is_loaded = true;
    if (run->wants_facts && !run->wants_instance)
        return load_whole(batch, run, &batch->core.arena, false);
    pawl_status status = run->wants_instance ? load_instance(batch, run) : PAWL_OK;
    return status == PAWL_OK ? load_task(batch, run) : status;
}

/* A record that the batch has already may be newer than the row, so only what it lacks is taken from the row. */
pawl_status pw_sqlite_load_claimable(struct pw_core *core, struct pw_core_run *run, bool with_size)
{
    struct pw_batch *batch = pw_batch_of(core);
    if (!run->is_loaded && run->change == PW_CORE_SAME && !run->has_task) {
        run->is_loaded = true;
        return load_whole(batch, run, &core->unit->arena, with_size);
    }
    if (run->id.data != NULL && (run->has_params || run->task.started_at_ms != 0) && !with_size)
        return PAWL_OK;
    struct pw_core_run facts = { .key = run->key };
    pawl_status status = load_whole(batch, &facts, &core->unit->arena, with_size);
    run->workflow = facts.workflow;
    run->id = facts.id;
    run->params = facts.params;
    run->has_params = facts.has_params;
    run->texts = facts.texts;
    run->params_bytes = facts.params_bytes;
    run->created_at_ms = facts.created_at_ms;
    run->link = facts.link;
    return status;
}

/* ---- Runs by name ------------------------------------------------------------------------------------------------------- */

/* Takes the instance that has the name and shares the name's texts.  NULL: memory is out. */
static struct pw_core_run *take_named(struct pw_query *query, struct pw_core *core, struct pw_core_name *name)
{
    name->key = pw_column_key(query);
    struct pw_core_run *run = pw_want_run(core, name->key);
    if (run == NULL)
        return NULL;
    run->is_loaded = true;
    run->workflow = name->workflow;
    run->id = name->id;
    run->instance_run = pw_column_count(query);
    run->outcome = (enum pw_outcome)pw_column_choice(query, PW_OUTCOME_ERRORED);
    run->created_at_ms = pw_column_time(query);
    pw_read_link(query, &run->link);
    return run;
}

/* False: memory is out. */
static bool take_target(struct pw_query *query, struct pw_core *core, struct pw_op_event *op, struct pw_core_name *name)
{
    struct pw_core_run *run = take_named(query, core, name);
    if (run == NULL)
        return false;
    struct pw_core_event_id *id = pw_want_event_id(core, run->key, run->instance_run, op->id);
    if (id == NULL)
        return false;
    id->is_loaded = true;
    id->taken = pw_column_integer(query) != 0;
    op->awaited_until_ms = pw_column_time(query);
    if (pw_column_integer(query) != 0)
        take_task(query, run);
    return true;
}

/* Loads everything that an event to a named instance needs, with one statement. */
static pawl_status load_send(struct pw_batch *batch, void *record)
{
    struct pw_core *core = &batch->core;
    struct pw_op_event *op = record;
    struct pw_core_name *name = pw_want_name(core, op->workflow, op->to);
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENT_TARGET,
                   PW_VALUES(pw_str(op->workflow), pw_str(op->to), pw_str(op->id), pw_str(op->type)));
    if (pw_query_step(&query) && (name == NULL || !take_target(&query, core, op, name)))
        query.code = SQLITE_NOMEM;
    return pw_query_end(&query, core->error);
}

/* Takes what a control needs of the instance that it names, and then wants the relatives that it concerns. */
static bool take_control(struct pw_query *query, struct pw_batch *batch, struct pw_op_control *op,
                         struct pw_core_name *name)
{
    struct pw_core_run *run = take_named(query, &batch->core, name), **place = pw_rows_add(&batch->asked);
    if (run == NULL || place == NULL)
        return false;
    *place = run;
    op->newest_step_ms = pw_column_time(query);
    if (pw_column_integer(query) != 0)
        take_task(query, run);
    return pw_core_want_family(&batch->core, op, run);
}

static pawl_status load_control(struct pw_batch *batch, void *record)
{
    struct pw_core *core = &batch->core;
    struct pw_op_control *op = record;
    struct pw_core_name *name = pw_want_name(core, op->workflow, op->id);
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_CONTROL_TARGET, PW_VALUES(pw_str(op->workflow), pw_str(op->id)));
    if (pw_query_step(&query) && (name == NULL || !take_control(&query, batch, op, name)))
        query.code = SQLITE_NOMEM;
    return pw_query_end(&query, core->error);
}

static pawl_status find_name(struct pw_batch *batch, void *record)
{
    struct pw_core_name *name = record;
    struct pw_query query;
    if (name->is_found_otherwise)
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_FIND,
                   PW_VALUES(pw_str(name->workflow), pw_str(name->id)));
    if (pw_query_step(&query))
        name->key = pw_column_key(&query);
    pawl_status status = pw_query_end(&query, batch->core.error);
    if (status == PAWL_OK && name->wants_task && name->key != 0 && pw_want_run(&batch->core, name->key) == NULL)
        return no_memory(batch);
    return status;
}

static pawl_status find_children(struct pw_batch *batch, void *record)
{
    const struct pw_reach *reach = record;
    struct pw_core_run **place;
    struct pw_query query;
    pw_query_start(&query, batch->connection, PW_QUERY_CHILDREN_OPEN,
                   PW_VALUES(pw_int(reach->parent), pw_int(reach->run), pw_int(pw_least_reached(reach))));
    while ((place = pw_query_next(&query, &batch->asked)) != NULL) {
        struct pw_core_run *child = *place = pw_want_run(&batch->core, pw_column_integer(&query));
        enum pw_relation relation = (enum pw_relation)pw_column_choice(&query, PW_RELATION_JOB);
        if (child != NULL)
            child->link = (struct pw_link){ reach->parent, reach->run, relation };
        else
            query.code = SQLITE_NOMEM;
    }
    return pw_query_end(&query, batch->core.error);
}

/* A live runner learns by itself of what is asked of a run, even if its lease seems to have expired. */
static void note_living_holders(struct pw_batch *batch)
{
    struct pw_core_run *const *run = batch->asked.rows;
    for (size_t i = 0; i < batch->asked.count; i++) {
        const struct pw_task *task = &run[i]->task;
        run[i]->holder_lives = run[i]->has_task && task->processing && task->locked_until_ms <= batch->core.now_ms &&
                               pw_sqlite_may_live(batch->sqlite, task->owner);
    }
}

/* ---- History ------------------------------------------------------------------------------------------------------------ */

static pawl_status exists(struct pw_batch *batch, enum pw_query_name name, const int64_t *place, bool *out_exists)
{
    struct pw_query query;
    pw_query_start(&query, batch->connection, name, PW_VALUES(pw_int(place[0]), pw_int(place[1]), pw_int(place[2])));
    *out_exists = pw_query_step(&query);
    return pw_query_end(&query, batch->core.error);
}

static pawl_status find_step(struct pw_batch *batch, void *record)
{
    struct pw_core_step *step = record;
    return exists(batch, PW_QUERY_STEP_KNOWN, step->place, &step->exists);
}

static pawl_status find_event(struct pw_batch *batch, void *record)
{
    struct pw_core_event *event = record;
    return exists(batch, PW_QUERY_EVENT_AT, event->place, &event->exists);
}

static pawl_status find_event_id(struct pw_batch *batch, void *record)
{
    struct pw_core_event_id *id = record;
    struct pw_query query;
    if (id->is_loaded)
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_EVENT_KNOWN,
                   PW_VALUES(pw_int(id->instance), pw_int(id->run), pw_str(id->id)));
    id->taken = pw_query_step(&query);
    return pw_query_end(&query, batch->core.error);
}

static pawl_status load_tail(struct pw_batch *batch, void *record)
{
    struct pw_core_tail *tail = record;
    struct pw_query query;
    if (pw_hot_load_tail(&batch->sqlite->hot, tail))
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_LOG_TAIL,
                   PW_VALUES(pw_int(tail->place[0]), pw_int(tail->place[1])));
    if (pw_query_step(&query)) {
        tail->seq = pw_column_count(&query);
        tail->created_at_ms = pw_column_time(&query);
    }
    return pw_query_end(&query, batch->core.error);
}

pawl_status pw_sqlite_count_unread(struct pw_core *core, const struct pw_core_run *run, int64_t max, int64_t *out_count)
{
    struct pw_query query;
    *out_count = 0;
    pw_query_start(&query, pw_batch_of(core)->connection, PW_QUERY_EVENTS_UNREAD,
                   PW_VALUES(pw_int(run->key), pw_int(run->run), pw_int(max)));
    if (pw_query_step(&query))
        *out_count = pw_column_count(&query);
    return pw_query_end(&query, core->error);
}

pawl_status pw_sqlite_find_wait(struct pw_core *core, const struct pw_core_run *run, struct pw_text type,
                                int64_t *out_until_ms)
{
    struct pw_query query;
    pw_query_start(&query, pw_batch_of(core)->connection, PW_QUERY_STEP_AWAITING,
                   PW_VALUES(pw_int(run->key), pw_int(run->run), pw_str(type)));
    *out_until_ms = pw_query_step(&query) ? pw_column_time(&query) : 0;
    return pw_query_end(&query, core->error);
}

/* ---- Keys for new instances -------------------------------------------------------------------------------------------- */

static pawl_status find_last_key(struct pw_batch *batch, int64_t *out_key)
{
    struct pw_query query;
    *out_key = batch->sqlite->hot.last_key;
    if (*out_key >= 0)
        return PAWL_OK;
    pw_query_start(&query, batch->connection, PW_QUERY_INSTANCE_LAST_KEY, PW_NO_VALUES);
    *out_key = pw_query_step(&query) ? pw_column_count(&query) : 0;
    return pw_query_end(&query, batch->core.error);
}

static pawl_status hand_out_keys(struct pw_batch *batch)
{
    int64_t last = 0;
    pawl_status status = batch->core.keys_wanted > 0 ? find_last_key(batch, &last) : PAWL_OK;
    for (int64_t i = 0; i < batch->core.keys_wanted && status == PAWL_OK; i++) {
        int64_t *key = pw_rows_add(&batch->core.keys);
        if (key == NULL)
            return no_memory(batch);
        *key = ++last;
    }
    return status;
}

/* ---- All ----------------------------------------------------------------------------------------------------------------- */

pawl_status pw_batch_each(struct pw_batch *batch, const struct pw_rows *records,
                          pawl_status (*work)(struct pw_batch *batch, void *record))
{
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < records->count && status == PAWL_OK; i++) /* work may add records */
        status = work(batch, ((void **)records->rows)[i]);
    return status;
}

/* Notes what the ops need, then loads it kind by kind.  The order matters, because loading one kind may want records
 * of a later one. */
pawl_status pw_sqlite_load(struct pw_batch *batch, struct pw_unit **units, size_t count)
{
    struct pw_core *core = &batch->core;
    const struct {
        const struct pw_rows *records;
        pawl_status (*load)(struct pw_batch *batch, void *record);
    } parts[] = { { &core->sends, load_send },        { &core->controls, load_control },
                  { &core->names.list, find_name },   { &core->reaches, find_children },
                  { &core->runs.list, load_run },     { &core->steps.list, find_step },
                  { &core->events.list, find_event }, { &core->event_ids.list, find_event_id },
                  { &core->tails.list, load_tail } };
    pawl_status status = PAWL_OK;
    batch->asked = (struct pw_rows){ .arena = &core->arena, .row_size = sizeof(void *) };
    for (size_t i = 0; i < count; i++)
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next)
            if (!pw_core_want(core, op))
                return no_memory(batch);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == PAWL_OK; i++)
        status = pw_batch_each(batch, parts[i].records, parts[i].load);
    if (status == PAWL_OK) {
        note_living_holders(batch);
        status = pw_sqlite_load_hooks(batch);
    }
    return status == PAWL_OK ? hand_out_keys(batch) : status;
}
