/* look.c - what a transaction looks at before it decides: the tasks of all instances that its units speak of, locked, and
 * whatever else their checks need.
 *
 * Tasks are locked first, in the order of their keys, then instances, in theirs; so two transactions cannot wait for each
 * other.  Tasks whose locks are not waited for come in between, and nobody waits for a gate.  The other statements come
 * behind the locks and see what those who held them before have committed. */
#include "base/error.h"
#include "store/postgres/fields.h"
#include "store/postgres/transaction.h"

/* ---- What is needed besides the rows that rules ask for ---------------------------------------------------- */

int64_t pw_gate_of(const struct pw_op_claim *op)
{
    return (int64_t)pw_stable_hash(pw_stable_hash(0, pw_text_of("pawl: leases of ")), op->workflows[0]);
}

/* Where only so many may be leased, one claims at a time. */
static bool want_gate(struct pw_transaction *transaction, const struct pw_op_claim *op)
{
    if (op->leased_max == 0 || op->workflow_count == 0)
        return true;
    struct pw_pg_gate *gate = pw_rows_add(&transaction->gates);
    if (gate != NULL)
        gate->key = pw_gate_of(op);
    return gate != NULL;
}

static bool want_owed(struct pw_transaction *transaction)
{
    struct pw_rows debts;
    if (!pw_list_owed(transaction, &debts))
        return false;
    for (size_t i = 0; i < debts.count; i++)
        if (pw_want_run(&transaction->core, ((const struct pw_pg_debt *)debts.rows)[i].fence.instance) == NULL)
            return false;
    return true;
}

/* ---- Answers ------------------------------------------------------------------------------------------------- */

struct pw_core_run *pw_take_task(struct pw_transaction *transaction, struct pw_fields *fields)
{
    struct pw_core_run *run = pw_want_run(&transaction->core, pw_field_integer(fields));
    struct pw_task task = { .epoch = 0 };
    int64_t number = pw_field_count(fields);
    pw_field_row(fields, &pw_task_type, &task);
    if (run == NULL || run->has_task)
        return run;
    run->has_task = run->is_stored = true;
    run->is_seen = false;
    run->run = number;
    run->task = run->stored = task;
    pw_task_mend(&run->task);
    return run;
}

static pawl_status take_tasks(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields))
        if (pw_take_task(transaction, &fields) == NULL)
            return PAWL_NOMEM;
    return pw_fields_end(&fields);
}

/* Those that were passed over. */
static pawl_status take_seen(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, &transaction->core.arena);
    while (pw_fields_next(&fields)) {
        struct pw_core_run *run = pw_find_run(&transaction->core, pw_field_integer(&fields));
        if (run == NULL || run->has_task)
            continue;
        run->is_seen = true;
        run->run = pw_field_count(&fields);
        pw_field_row(&fields, &pw_task_type, &run->task);
    }
    return pw_fields_end(&fields);
}

/* Two claims of one transaction may share a gate: then both have it, or none. */
static pawl_status take_gates(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_pg_gate *gates = transaction->gates.rows;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        int64_t key = pw_field_integer(&fields);
        bool is_ours = pw_field_integer(&fields) != 0;
        for (size_t i = 0; i < transaction->gates.count; i++)
            if (gates[i].key == key)
                gates[i].is_ours = is_ours;
    }
    return pw_fields_end(&fields);
}

/* Those that are open now, and were not when the locks were sought, have come in between. */
static pawl_status take_children(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        struct pw_core_run *run = pw_find_task(&transaction->core, pw_field_integer(&fields));
        if (run != NULL)
            run->link = pw_field_link(&fields);
        else
            transaction->is_stale = true;
    }
    return pw_fields_end(&fields);
}

static pawl_status take_instances(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, &transaction->core.arena);
    while (pw_fields_next(&fields)) {
        struct pw_core_run *run = pw_want_run(&transaction->core, pw_field_integer(&fields));
        if (run == NULL)
            return PAWL_NOMEM;
        run->is_told = run->is_told || !run->wants_lock; /* the parent of one that is named */
        run->is_known = true;
        run->workflow = pw_field_text(&fields);
        run->id = pw_field_text(&fields);
        run->instance_run = pw_field_count(&fields);
        run->created_at_ms = pw_field_time(&fields);
        run->link = pw_field_link(&fields);
        run->updated_at_ms = pw_field_integer(&fields);
        run->outcome = (enum pw_outcome)pw_field_choice(&fields, PW_OUTCOME_ERRORED);
        run->started_at_ms = pw_field_time(&fields);
        run->completed_at_ms = pw_field_time(&fields);
        run->output = pw_field_text(&fields);
        run->error_name = pw_field_text(&fields);
        run->error_message = pw_field_text(&fields);
        pw_field_row(&fields, &pw_terms_type, &run->terms);
        if (run->is_told && !run->has_task && run->outcome == PW_OUTCOME_OPEN)
            transaction->is_stale = true; /* it began again before we had its lock */
    }
    return pw_fields_end(&fields);
}

void pw_take_facts(struct pw_fields *fields, struct pw_core_run *run)
{
    struct pw_text workflow = pw_field_text(fields), id = pw_field_text(fields);
    int64_t created_at_ms = pw_field_time(fields);
    struct pw_link link = pw_field_link(fields);
    struct pw_text params = pw_field_text(fields);
    run->has_params = true;
    if (run->params.data != NULL)
        return;
    run->workflow = workflow;
    run->id = id;
    run->created_at_ms = created_at_ms;
    run->link = link;
    run->params = params;
    run->texts = fields->arena;
}

static pawl_status take_facts(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, &transaction->core.arena);
    while (pw_fields_next(&fields)) {
        struct pw_core_run *run = pw_find_run(&transaction->core, pw_field_integer(&fields));
        if (run != NULL)
            pw_take_facts(&fields, run);
    }
    return pw_fields_end(&fields);
}

static pawl_status take_keys(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        int64_t *key = pw_rows_add(&transaction->core.keys);
        if (key == NULL)
            return PAWL_NOMEM;
        *key = pw_field_place(&fields);
    }
    return pw_fields_end(&fields);
}

/* The record at a place that the answer names, counted from 1. */
static void *record_at(const struct pw_core_set *set, struct pw_fields *fields)
{
    int64_t place = pw_field_place(fields);
    return place >= 1 && (uint64_t)place <= set->list.count ? ((void **)set->list.rows)[place - 1] : NULL;
}

static pawl_status take_names(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        struct pw_core_name *name = record_at(&transaction->core.names, &fields);
        if (name == NULL)
            continue;
        name->key = pw_field_place(&fields);
        bool is_open = pw_field_integer(&fields) != 0;
        if (name->wants_task && is_open && pw_find_task(&transaction->core, name->key) == NULL)
            transaction->is_stale = true;
    }
    return pw_fields_end(&fields);
}

static pawl_status take_targets(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_core *core = &transaction->core;
    struct pw_op_event **sends = core->sends.rows;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        int64_t place = pw_field_place(&fields), key = pw_field_place(&fields);
        if (place < 1 || (uint64_t)place > core->sends.count)
            continue;
        struct pw_op_event *op = sends[place - 1];
        struct pw_core_name *name = pw_want_name(core, op->workflow, op->to);
        struct pw_core_run *run = pw_want_run(core, key);
        if (name == NULL || run == NULL)
            return PAWL_NOMEM;
        name->key = key;
        run->workflow = op->workflow;
        run->id = op->to;
        run->instance_run = pw_field_count(&fields);
        run->outcome = (enum pw_outcome)pw_field_choice(&fields, PW_OUTCOME_ERRORED);
        run->created_at_ms = pw_field_time(&fields);
        run->link = pw_field_link(&fields);
        struct pw_core_event_id *id = pw_want_event_id(core, key, run->instance_run, op->id);
        if (id == NULL)
            return PAWL_NOMEM;
        id->taken = pw_field_integer(&fields) != 0;
        op->awaited_until_ms = pw_field_time(&fields);
        if (run->outcome == PW_OUTCOME_OPEN && !run->has_task)
            transaction->is_stale = true; /* it began again before we had its lock */
    }
    return pw_fields_end(&fields);
}

static pawl_status take_controls(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_core *core = &transaction->core;
    struct pw_op_control **controls = core->controls.rows;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        int64_t place = pw_field_place(&fields), key = pw_field_place(&fields);
        if (place < 1 || (uint64_t)place > core->controls.count)
            continue;
        struct pw_op_control *op = controls[place - 1];
        struct pw_core_name *name = pw_want_name(core, op->workflow, op->id);
        struct pw_core_run *run = pw_want_run(core, key);
        if (name == NULL || run == NULL)
            return PAWL_NOMEM;
        name->key = key;
        run->workflow = op->workflow;
        run->id = op->id;
        run->instance_run = pw_field_count(&fields);
        run->outcome = (enum pw_outcome)pw_field_choice(&fields, PW_OUTCOME_ERRORED);
        run->created_at_ms = pw_field_time(&fields);
        run->link = pw_field_link(&fields);
        op->newest_step_ms = pw_field_time(&fields);
        struct pw_core_tail *tail = pw_want_tail(core, key, run->instance_run);
        if (tail == NULL || !pw_core_want_family(core, op, run))
            return PAWL_NOMEM;
        tail->seq = pw_field_count(&fields);
        tail->created_at_ms = pw_field_time(&fields);
        if (run->outcome == PW_OUTCOME_OPEN && !run->has_task)
            transaction->is_stale = true; /* it began again before we had its lock */
    }
    return pw_fields_end(&fields);
}

static pawl_status take_steps(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        struct pw_core_step *step = record_at(&transaction->core.steps, &fields);
        if (step != NULL)
            step->exists = true;
    }
    return pw_fields_end(&fields);
}

static pawl_status take_events(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        struct pw_core_event *event = record_at(&transaction->core.events, &fields);
        if (event != NULL)
            event->exists = true;
    }
    return pw_fields_end(&fields);
}

static pawl_status take_event_ids(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        struct pw_core_event_id *id = record_at(&transaction->core.event_ids, &fields);
        if (id != NULL)
            id->taken = true;
    }
    return pw_fields_end(&fields);
}

static pawl_status take_tails(void *user, void *of, const PGresult *result)
{
    struct pw_transaction *transaction = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    while (pw_fields_next(&fields)) {
        struct pw_core_tail *tail = record_at(&transaction->core.tails, &fields);
        if (tail != NULL)
            tail->seq = pw_field_count(&fields);
        if (tail != NULL)
            tail->created_at_ms = pw_field_integer(&fields);
    }
    return pw_fields_end(&fields);
}

/* ---- Questions ----------------------------------------------------------------------------------------------- */

static void ask(struct pw_transaction *transaction, enum pw_pg_query name, struct pw_columns *columns,
                pw_pg_take_fn *take)
{
    struct pw_call call;
    if (columns->rows == 0 && !columns->no_memory)
        return;
    pw_call_init(&call, name);
    pw_call_columns(&call, columns);
    pw_pg_send(transaction->connection, &call, take, transaction, NULL);
}

static void put_place(struct pw_columns *columns, const int64_t *place, size_t count)
{
    pw_columns_row(columns);
    for (size_t i = 0; i < count; i++)
        pw_put_integer(columns, place[i]);
}

/* The runs that are named by what also concerns their families, and the least relation that is concerned. */
static void put_families(struct pw_transaction *transaction, struct pw_columns *families)
{
    struct pw_op_control *const *controls = transaction->core.controls.rows;
    pw_columns_init(families, &transaction->core.arena);
    for (size_t i = 0; i < transaction->core.controls.count; i++) {
        if (pw_control_reaches(controls[i]) == PW_RELATION_NONE)
            continue;
        pw_columns_row(families);
        pw_put_text(families, controls[i]->workflow);
        pw_put_text(families, controls[i]->id);
        pw_put_integer(families, pw_control_reaches(controls[i]));
    }
}

/* The tasks that are known by their keys, and those that are yet to be found, all in the order of their keys. */
static void lock_tasks(struct pw_transaction *transaction, struct pw_columns *tasks, struct pw_columns *families)
{
    struct pw_columns parents, names;
    const struct pw_reach *const *reaches = transaction->core.reaches.rows;
    struct pw_core_name **name = transaction->core.names.list.rows;
    struct pw_call call;
    if (transaction->core.reaches.count == 0 && !transaction->core.locks_by_name) {
        ask(transaction, PW_PG_TASK_LOCK, tasks, take_tasks);
        return;
    }
    pw_columns_init(&parents, &transaction->core.arena);
    pw_columns_init(&names, &transaction->core.arena);
    for (size_t i = 0; i < transaction->core.reaches.count; i++)
        put_place(&parents, (const int64_t[]){ reaches[i]->parent, reaches[i]->run, pw_least_reached(reaches[i]) }, 3);
    for (size_t i = 0; i < transaction->core.names.list.count; i++)
        if (name[i]->wants_task) {
            pw_columns_row(&names);
            pw_put_text(&names, name[i]->workflow);
            pw_put_text(&names, name[i]->id);
        }
    pw_call_init(&call, PW_PG_TASK_LOCK_FOUND);
    pw_call_columns_or_null(&call, tasks, 1);
    pw_call_columns_or_null(&call, &parents, 3);
    pw_call_columns_or_null(&call, &names, 2);
    pw_call_columns_or_null(&call, families, 3);
    pw_pg_send(transaction->connection, &call, take_tasks, transaction, NULL);
    ask(transaction, PW_PG_CHILDREN, &parents, take_children);
    ask(transaction, PW_PG_CHILDREN_NAMED, families, take_children);
}

/* Those that are known by their keys, and the parents of those that are named. */
static void lock_instances(struct pw_transaction *transaction, struct pw_columns *instances,
                           struct pw_columns *families)
{
    struct pw_call call;
    if (instances->rows == 0 && families->rows == 0 && !instances->no_memory && !families->no_memory)
        return;
    pw_call_init(&call, PW_PG_INSTANCE_LOCK);
    pw_call_columns_or_null(&call, instances, 1);
    pw_call_columns_or_null(&call, families, 3);
    pw_pg_send(transaction->connection, &call, take_instances, transaction, NULL);
}

/* Renewals and claims share a lane: who waited for a gate here would cost its runner all its leases. */
static void try_gates(struct pw_transaction *transaction)
{
    struct pw_columns gates;
    const struct pw_pg_gate *gate = transaction->gates.rows;
    pw_columns_init(&gates, &transaction->core.arena);
    for (size_t i = 0; i < transaction->gates.count; i++)
        put_place(&gates, &gate[i].key, 1);
    ask(transaction, PW_PG_CLAIM_TRY_GATE, &gates, take_gates);
}

static void ask_about_runs(struct pw_transaction *transaction)
{
    struct pw_columns tasks, leases, instances, facts, families;
    struct pw_core_run **runs = transaction->core.runs.list.rows;
    pw_columns_init(&tasks, &transaction->core.arena);
    pw_columns_init(&leases, &transaction->core.arena);
    pw_columns_init(&instances, &transaction->core.arena);
    pw_columns_init(&facts, &transaction->core.arena);
    for (size_t i = 0; i < transaction->core.runs.list.count; i++) {
        put_place(runs[i]->wants_task ? &tasks : &leases, &runs[i]->key, 1);
        if (runs[i]->wants_lock) {
            pw_columns_row(&instances);
            pw_put_integer(&instances, runs[i]->key);
        }
        if (runs[i]->wants_facts) {
            pw_columns_row(&facts);
            pw_put_integer(&facts, runs[i]->key);
            pw_put_integer(&facts, runs[i]->wants_params);
        }
    }
    put_families(transaction, &families);
    lock_tasks(transaction, &tasks, &families);
    ask(transaction, PW_PG_LEASE_LOCK, &leases, take_tasks);
    ask(transaction, PW_PG_LEASE_SEE, &leases, take_seen);
    lock_instances(transaction, &instances, &families);
    try_gates(transaction);
    ask(transaction, PW_PG_INSTANCE_FACTS, &facts, take_facts);
}

static void ask_about_names(struct pw_transaction *transaction)
{
    struct pw_columns columns;
    struct pw_call call;
    struct pw_core_name **names = transaction->core.names.list.rows;
    bool is_asked = false; /* events and controls find the instances that they name by themselves */
    pw_columns_init(&columns, &transaction->core.arena);
    for (size_t i = 0; i < transaction->core.names.list.count; i++) {
        pw_columns_row(&columns);
        pw_put_text(&columns, names[i]->workflow);
        pw_put_text(&columns, names[i]->id);
        is_asked = is_asked || !names[i]->is_found_otherwise;
    }
    if (is_asked)
        ask(transaction, PW_PG_INSTANCE_FIND, &columns, take_names);
    if (transaction->core.keys_wanted > 0) {
        pw_call_init(&call, PW_PG_INSTANCE_KEYS);
        pw_call_integer(&call, transaction->core.keys_wanted);
        pw_pg_send(transaction->connection, &call, take_keys, transaction, NULL);
    }
}

static void ask_about_sends(struct pw_transaction *transaction)
{
    struct pw_columns columns;
    struct pw_op_event *const *sends = transaction->core.sends.rows;
    pw_columns_init(&columns, &transaction->core.arena);
    for (size_t i = 0; i < transaction->core.sends.count; i++) {
        pw_columns_row(&columns);
        pw_put_text(&columns, sends[i]->workflow);
        pw_put_text(&columns, sends[i]->to);
        pw_put_text(&columns, sends[i]->id);
        pw_put_text(&columns, sends[i]->type);
    }
    ask(transaction, PW_PG_EVENT_TARGETS, &columns, take_targets);
}

static void ask_about_controls(struct pw_transaction *transaction)
{
    struct pw_columns columns;
    struct pw_op_control *const *controls = transaction->core.controls.rows;
    pw_columns_init(&columns, &transaction->core.arena);
    for (size_t i = 0; i < transaction->core.controls.count; i++) {
        pw_columns_row(&columns);
        pw_put_text(&columns, controls[i]->workflow);
        pw_put_text(&columns, controls[i]->id);
    }
    ask(transaction, PW_PG_CONTROL_TARGETS, &columns, take_controls);
}

static void ask_about_history(struct pw_transaction *transaction)
{
    struct pw_columns steps, events, ids, tails;
    struct pw_core_step **step = transaction->core.steps.list.rows;
    struct pw_core_event **event = transaction->core.events.list.rows;
    struct pw_core_event_id **id = transaction->core.event_ids.list.rows;
    struct pw_core_tail **tail = transaction->core.tails.list.rows;
    pw_columns_init(&steps, &transaction->core.arena);
    pw_columns_init(&events, &transaction->core.arena);
    pw_columns_init(&ids, &transaction->core.arena);
    pw_columns_init(&tails, &transaction->core.arena);
    for (size_t i = 0; i < transaction->core.steps.list.count; i++)
        put_place(&steps, step[i]->place, 3);
    for (size_t i = 0; i < transaction->core.events.list.count; i++)
        put_place(&events, event[i]->place, 3);
    for (size_t i = 0; i < transaction->core.event_ids.list.count; i++) {
        pw_columns_row(&ids);
        pw_put_integer(&ids, id[i]->instance);
        pw_put_integer(&ids, id[i]->run);
        pw_put_text(&ids, id[i]->id);
    }
    for (size_t i = 0; i < transaction->core.tails.list.count; i++)
        put_place(&tails, tail[i]->place, 2);
    ask(transaction, PW_PG_STEP_FIND, &steps, take_steps);
    ask(transaction, PW_PG_EVENT_FIND, &events, take_events);
    ask(transaction, PW_PG_EVENT_FIND_ID, &ids, take_event_ids);
    ask(transaction, PW_PG_LOG_TAIL, &tails, take_tails);
}

/* Not where a gate must be ours first: who is kept out of it keeps nothing locked. */
static bool can_be_found(const struct pw_op *op)
{
    if (op->kind == PW_OP_CLAIM)
        return op->as.claim.workflow_count > 0 && op->as.claim.leased_max == 0;
    if (op->kind == PW_OP_HOOK_CLAIM)
        return op->as.hook_claim.wanted_count > 0 && op->as.hook_claim.max > 0;
    return op->kind == PW_OP_REAP;
}

static bool is_about_finds(const struct pw_op *op)
{
    return op->kind == PW_OP_CLAIM || op->kind == PW_OP_REAP || op->kind == PW_OP_HOOK_CLAIM ||
           op->kind == PW_OP_HOOK_SETTLE || op->kind == PW_OP_HOOK_RESEND;
}

/* Finds go out with the look up to the first op that makes tasks or deliveries of another kind.  Finds of one transaction come
 * upon the same deliveries: each finds as many more as those before it may take. */
static bool send_finds(struct pw_transaction *transaction, struct pw_unit **units, size_t count)
{
    size_t ahead = 0;
    for (size_t i = 0; i < count; i++)
        for (const struct pw_op *op = units[i]->first; op != NULL; op = op->next) {
            if (!is_about_finds(op))
                return true;
            if (can_be_found(op)) {
                struct pw_pg_find *find =
                    op->kind == PW_OP_HOOK_CLAIM
                        ? pw_send_hook_find(transaction, &op->as.hook_claim, ahead)
                        : pw_send_find(transaction, units[i], op->kind == PW_OP_CLAIM ? &op->as.claim : NULL);
                if (find == NULL)
                    return false;
                find->next = transaction->finds;
                transaction->finds = find;
            }
            ahead += op->kind == PW_OP_HOOK_CLAIM ? op->as.hook_claim.max : 1;
        }
    return true;
}

pawl_status pw_look(struct pw_transaction *transaction, struct pw_unit **units, size_t count, bool *out_sent)
{
    const struct pw_pg_connection *connection = transaction->connection;
    size_t before = connection->reply_count;
    bool must_wait = false;
    transaction->owed_last = pw_pg_owed_last(&transaction->postgres->owed);
    for (size_t i = 0; i < count; i++) {
        must_wait = must_wait || pw_unit_runs_users_code(units[i]);
        for (struct pw_op *op = units[i]->first; op != NULL; op = op->next)
            if (!pw_core_want(&transaction->core, op) ||
                (op->kind == PW_OP_CLAIM && !want_gate(transaction, &op->as.claim)))
                return pw_no_memory(transaction);
    }
    if (!must_wait && !want_owed(transaction)) /* the user's code would keep it locked */
        return pw_no_memory(transaction);
    ask_about_runs(transaction);
    ask_about_names(transaction);
    ask_about_sends(transaction);
    ask_about_controls(transaction);
    ask_about_history(transaction);
    pw_lock_hooks(transaction);
    if (!send_finds(transaction, units, count))
        return pw_no_memory(transaction);
    *out_sent = must_wait || connection->reply_count > before || connection->failure.failed;
    return PAWL_OK;
}
