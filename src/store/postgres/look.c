/* look.c - the look: loads and locks every row that the units of a transaction need, in one round trip.
 *
 * pw_look() asks the core which rows each op needs (pw_core_want()).  Then it sends statements of three groups:
 * runs, names and history.  Each statement asks about all rows of one kind at once, as arrays of keys.  The
 * take_...() functions put the answers into the core's records.
 *
 * The order of the statements is the order of the locks (S7 in store.h), so that two transactions cannot wait for
 * each other in a circle:
 *   1. tasks, in the order of their keys, waited for;
 *   2. tasks whose leases are only renewed, without waiting: locked ones are skipped and only read (LEASE_SEE);
 *   3. instances, in the order of their keys, waited for;
 *   4. gates, without waiting.
 * The statements behind the locks see everything that earlier holders of the locks have committed.
 *
 * The danger is a row that appears between the search for it and its lock: a child that is created, a run that
 * begins again.  The statements behind the locks find such a row without a locked task.  They set is_stale, and
 * apply.c begins the transaction again. */
#include "base/error.h"
#include "store/postgres/fields.h"
#include "store/postgres/transaction.h"

/* ---- What is needed besides the rows that the core asks for ------------------------------------------------ */

int64_t pw_gate_of(const struct pw_op_claim *op)
{
    return (int64_t)pw_stable_hash(pw_stable_hash(0, pw_text_of("pawl: leases of ")), op->workflows[0]);
}

/* If a workflow has a limit of leases, only one transaction at a time may claim from it. */
static bool want_gate(struct pw_transaction *transaction, const struct pw_op_claim *op)
{
    if (op->leased_max == 0 || op->workflow_count == 0)
        return true;
    struct pw_pg_gate *gate = pw_rows_add(&transaction->gates);
    if (gate != NULL)
        gate->key = pw_gate_of(op);
    return gate != NULL;
}

/* Tries to make good renewals that are owed (owed.h): their tasks are wanted without waiting. */
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

static bool take_task(void *user, void *of, struct pw_fields *fields)
{
    (void)of;
    return pw_take_task(user, fields) != NULL;
}

static struct pw_core_run *find_run(void *user, struct pw_fields *fields)
{
    return pw_find_run(&((struct pw_transaction *)user)->core, pw_field_integer(fields));
}

/* A task that LEASE_LOCK skipped, because another transaction has locked it. */
static bool take_seen(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_run *run = find_run(user, fields);
    (void)of;
    if (run == NULL || run->has_task)
        return true;
    run->is_seen = true;
    run->run = pw_field_count(fields);
    pw_field_row(fields, &pw_task_type, &run->task);
    return true;
}

/* Two claims of one transaction may share a gate.  Then both have it, or neither. */
static bool take_gate(void *user, void *of, struct pw_fields *fields)
{
    const struct pw_rows *rows = &((struct pw_transaction *)user)->gates;
    struct pw_pg_gate *gates = rows->rows;
    int64_t key = pw_field_integer(fields);
    bool is_ours = pw_field_integer(fields) != 0;
    (void)of;
    for (size_t i = 0; i < rows->count; i++)
        if (gates[i].key == key)
            gates[i].is_ours = is_ours;
    return true;
}

/* A child that is open now, but whose task was not found when the locks were taken, has appeared in between. */
static bool take_child(void *user, void *of, struct pw_fields *fields)
{
    struct pw_transaction *transaction = user;
    struct pw_core_run *run = pw_find_task(&transaction->core, pw_field_integer(fields));
    (void)of;
    if (run != NULL)
        run->link = pw_field_link(fields);
    else
        transaction->is_stale = true;
    return true;
}

static bool take_instance(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_run *run = pw_want_run(&((struct pw_transaction *)user)->core, pw_field_integer(fields));
    (void)of;
    if (run == NULL)
        return false;
    run->is_told = run->is_told || !run->wants_lock; /* it was found as the parent of a named run */
    run->is_known = true;
    run->workflow = pw_field_text(fields);
    run->id = pw_field_text(fields);
    run->instance_run = pw_field_count(fields);
    run->created_at_ms = pw_field_time(fields);
    run->link = pw_field_link(fields);
    run->updated_at_ms = pw_field_integer(fields);
    run->outcome = (enum pw_outcome)pw_field_choice(fields, PW_OUTCOME_ERRORED);
    run->started_at_ms = pw_field_time(fields);
    run->completed_at_ms = pw_field_time(fields);
    run->output = pw_field_text(fields);
    run->error_name = pw_field_text(fields);
    run->error_message = pw_field_text(fields);
    pw_field_row(fields, &pw_terms_type, &run->terms);
    if (run->is_told && !run->has_task && run->outcome == PW_OUTCOME_OPEN)
        ((struct pw_transaction *)user)->is_stale = true; /* it began again before we had its lock */
    return true;
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

static bool take_facts(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_run *run = find_run(user, fields);
    (void)of;
    if (run != NULL)
        pw_take_facts(fields, run);
    return true;
}

static bool take_key(void *user, void *of, struct pw_fields *fields)
{
    int64_t *key = pw_rows_add(&((struct pw_transaction *)user)->core.keys);
    (void)of;
    if (key != NULL)
        *key = pw_field_place(fields);
    return key != NULL;
}

/* The record at the position that the answer names, counted from 1.  of: the list of pointers that was asked about. */
static void *asked_at(const void *of, struct pw_fields *fields)
{
    const struct pw_rows *asked = of;
    int64_t place = pw_field_place(fields);
    return place >= 1 && (uint64_t)place <= asked->count ? ((void **)asked->rows)[place - 1] : NULL;
}

static bool take_name(void *user, void *of, struct pw_fields *fields)
{
    struct pw_transaction *transaction = user;
    struct pw_core_name *name = asked_at(of, fields);
    if (name == NULL)
        return true;
    name->key = pw_field_place(fields);
    bool is_open = pw_field_integer(fields) != 0;
    if (name->wants_task && is_open && pw_find_task(&transaction->core, name->key) == NULL)
        transaction->is_stale = true;
    return true;
}

/* Takes the instance that an op names.  NULL: memory is out. */
static struct pw_core_run *take_named(struct pw_transaction *transaction, struct pw_text workflow, struct pw_text id,
                                      struct pw_fields *fields)
{
    int64_t key = pw_field_place(fields);
    struct pw_core_name *name = pw_want_name(&transaction->core, workflow, id);
    struct pw_core_run *run = pw_want_run(&transaction->core, key);
    if (name == NULL || run == NULL)
        return NULL;
    name->key = key;
    run->workflow = workflow;
    run->id = id;
    run->instance_run = pw_field_count(fields);
    run->outcome = (enum pw_outcome)pw_field_choice(fields, PW_OUTCOME_ERRORED);
    run->created_at_ms = pw_field_time(fields);
    run->link = pw_field_link(fields);
    if (run->outcome == PW_OUTCOME_OPEN && !run->has_task)
        transaction->is_stale = true; /* it began again before we had its lock */
    return run;
}

/* The target of an event: its instance, whether its run has the event already, and until when a step waits for such
 * an event. */
static bool take_target(void *user, void *of, struct pw_fields *fields)
{
    struct pw_transaction *transaction = user;
    struct pw_core *core = &transaction->core;
    struct pw_op_event *op = asked_at(of, fields);
    if (op == NULL)
        return true;
    struct pw_core_run *run = take_named(transaction, op->workflow, op->to, fields);
    if (run == NULL)
        return false;
    struct pw_core_event_id *id = pw_want_event_id(core, run->key, run->instance_run, op->id);
    if (id == NULL)
        return false;
    id->taken = pw_field_integer(fields) != 0;
    op->awaited_until_ms = pw_field_time(fields);
    return true;
}

/* The target of a control, its newest step time and the end of its log.  Now the relatives that it concerns are
 * known. */
static bool take_control(void *user, void *of, struct pw_fields *fields)
{
    struct pw_transaction *transaction = user;
    struct pw_core *core = &transaction->core;
    struct pw_op_control *op = asked_at(of, fields);
    if (op == NULL)
        return true;
    struct pw_core_run *run = take_named(transaction, op->workflow, op->id, fields);
    if (run == NULL)
        return false;
    op->newest_step_ms = pw_field_time(fields);
    struct pw_core_tail *tail = pw_want_tail(core, run->key, run->instance_run);
    if (tail == NULL || !pw_core_want_family(core, op, run))
        return false;
    tail->seq = pw_field_count(fields);
    tail->created_at_ms = pw_field_time(fields);
    return true;
}

static bool take_step(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_step *step = asked_at(of, fields);
    (void)user;
    if (step != NULL)
        step->exists = true;
    return true;
}

static bool take_event(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_event *event = asked_at(of, fields);
    (void)user;
    if (event != NULL)
        event->exists = true;
    return true;
}

static bool take_event_id(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_event_id *id = asked_at(of, fields);
    (void)user;
    if (id != NULL)
        id->taken = true;
    return true;
}

static bool take_tail(void *user, void *of, struct pw_fields *fields)
{
    struct pw_core_tail *tail = asked_at(of, fields);
    (void)user;
    if (tail == NULL)
        return true;
    tail->seq = pw_field_count(fields);
    tail->created_at_ms = pw_field_integer(fields);
    return true;
}

/* ---- Questions: the statements, in the order of the locks ------------------------------------------------------ */

/* Asks about the rows of the columns, unless there are none. */
static void ask(struct pw_transaction *transaction, enum pw_pg_query name, struct pw_columns *columns,
                pw_pg_row_fn *take, void *of)
{
    struct pw_call call;
    if (columns->rows == 0 && !columns->no_memory)
        return;
    pw_call_init(&call, name, PW_NO_VALUES);
    pw_call_columns(&call, columns);
    pw_ask(transaction, &call, take, of);
}

static struct pw_columns no_columns(struct pw_transaction *transaction)
{
    return (struct pw_columns){ .arena = &transaction->core.arena };
}

static void put_key(struct pw_columns *columns, int64_t key)
{
    pw_columns_row(columns, PW_VALUES(pw_int(key)));
}

static void put_name(struct pw_columns *columns, struct pw_text workflow, struct pw_text id)
{
    pw_columns_row(columns, PW_VALUES(pw_str(workflow), pw_str(id)));
}

/* Asks about records whose first member is their key. */
static void ask_about_places(struct pw_transaction *transaction, enum pw_pg_query name, struct pw_rows *records,
                             size_t parts, pw_pg_row_fn *take)
{
    struct pw_columns places = no_columns(transaction);
    const int64_t *const *place = records->rows;
    for (size_t i = 0; i < records->count; i++) {
        struct pw_value values[3];
        for (size_t part = 0; part < parts; part++)
            values[part] = pw_int(place[i][part]);
        pw_columns_row(&places, values, parts);
    }
    ask(transaction, name, &places, take, records);
}

/* The runs that controls name and whose families they also concern, each with the least relation that is concerned. */
static void put_families(struct pw_transaction *transaction, struct pw_columns *families)
{
    struct pw_op_control *const *controls = transaction->core.controls.rows;
    for (size_t i = 0; i < transaction->core.controls.count; i++) {
        enum pw_relation least = pw_control_reaches(controls[i]);
        if (least != PW_RELATION_NONE)
            pw_columns_row(families, PW_VALUES(pw_str(controls[i]->workflow), pw_str(controls[i]->id), pw_int(least)));
    }
}

/* Locks the tasks whose keys are known and those that still have to be found, all in the order of their keys. */
static void lock_tasks(struct pw_transaction *transaction, struct pw_columns *tasks, struct pw_columns *families)
{
    const struct pw_core *core = &transaction->core;
    const struct pw_reach *const *reaches = core->reaches.rows;
    struct pw_core_name **name = core->names.list.rows;
    struct pw_columns parents = no_columns(transaction), names = parents;
    struct pw_call call;
    if (core->reaches.count == 0 && !core->locks_by_name) {
        ask(transaction, PW_PG_TASK_LOCK, tasks, take_task, NULL);
        return;
    }
    for (size_t i = 0; i < core->reaches.count; i++)
        pw_columns_row(&parents, PW_VALUES(pw_int(reaches[i]->parent), pw_int(reaches[i]->run),
                                           pw_int(pw_least_reached(reaches[i]))));
    for (size_t i = 0; i < core->names.list.count; i++)
        if (name[i]->wants_task)
            put_name(&names, name[i]->workflow, name[i]->id);
    pw_call_init(&call, PW_PG_TASK_LOCK_FOUND, PW_NO_VALUES);
    pw_call_columns_or_null(&call, tasks, 1);
    pw_call_columns_or_null(&call, &parents, 3);
    pw_call_columns_or_null(&call, &names, 2);
    pw_call_columns_or_null(&call, families, 3);
    pw_ask(transaction, &call, take_task, NULL);
    ask(transaction, PW_PG_CHILDREN, &parents, take_child, NULL);
    ask(transaction, PW_PG_CHILDREN_NAMED, families, take_child, NULL);
}

/* Locks the instances whose keys are known, and the parents of the runs that controls end. */
static void lock_instances(struct pw_transaction *transaction, struct pw_columns *instances,
                           struct pw_columns *families)
{
    struct pw_call call;
    if (instances->rows == 0 && families->rows == 0 && !instances->no_memory && !families->no_memory)
        return;
    pw_call_init(&call, PW_PG_INSTANCE_LOCK, PW_NO_VALUES);
    pw_call_columns_or_null(&call, instances, 1);
    pw_call_columns_or_null(&call, families, 3);
    pw_ask(transaction, &call, take_instance, NULL);
}

/* Gates are not waited for.  Renewals and claims share a queue of the committer, so waiting for a gate would delay
 * renewals until the runner loses its leases. */
static void try_gates(struct pw_transaction *transaction)
{
    struct pw_columns gates = no_columns(transaction);
    const struct pw_pg_gate *gate = transaction->gates.rows;
    for (size_t i = 0; i < transaction->gates.count; i++)
        put_key(&gates, gate[i].key);
    ask(transaction, PW_PG_CLAIM_TRY_GATE, &gates, take_gate, NULL);
}

/* The first group: tasks, instances and gates. */
static void ask_about_runs(struct pw_transaction *transaction)
{
    struct pw_columns tasks = no_columns(transaction), leases = tasks, instances = tasks, facts = tasks,
                      families = tasks;
    struct pw_core_run **runs = transaction->core.runs.list.rows;
    for (size_t i = 0; i < transaction->core.runs.list.count; i++) {
        put_key(runs[i]->wants_task ? &tasks : &leases, runs[i]->key);
        if (runs[i]->wants_lock)
            put_key(&instances, runs[i]->key);
        if (runs[i]->wants_facts)
            pw_columns_row(&facts, PW_VALUES(pw_int(runs[i]->key), pw_int(runs[i]->wants_params)));
    }
    put_families(transaction, &families);
    lock_tasks(transaction, &tasks, &families);
    ask(transaction, PW_PG_LEASE_LOCK, &leases, take_task, NULL);
    ask(transaction, PW_PG_LEASE_SEE, &leases, take_seen, NULL);
    lock_instances(transaction, &instances, &families);
    try_gates(transaction);
    ask(transaction, PW_PG_INSTANCE_FACTS, &facts, take_facts, NULL);
}

/* The second group: what ops name, and keys for new instances. */
static void ask_about_names(struct pw_transaction *transaction)
{
    struct pw_core *core = &transaction->core;
    struct pw_core_name **name = core->names.list.rows;
    struct pw_op_event *const *sends = core->sends.rows;
    struct pw_op_control *const *control = core->controls.rows;
    struct pw_columns names = no_columns(transaction), targets = names, controlled = names;
    struct pw_call call;
    bool is_asked = false; /* events and controls find the instances that they name themselves */
    for (size_t i = 0; i < core->names.list.count; i++) {
        put_name(&names, name[i]->workflow, name[i]->id);
        is_asked = is_asked || !name[i]->is_found_otherwise;
    }
    if (is_asked)
        ask(transaction, PW_PG_INSTANCE_FIND, &names, take_name, &core->names.list);
    if (core->keys_wanted > 0) {
        pw_call_init(&call, PW_PG_INSTANCE_KEYS, PW_VALUES(pw_int(core->keys_wanted)));
        pw_ask(transaction, &call, take_key, NULL);
    }
    for (size_t i = 0; i < core->sends.count; i++)
        pw_columns_row(&targets, PW_VALUES(pw_str(sends[i]->workflow), pw_str(sends[i]->to), pw_str(sends[i]->id),
                                           pw_str(sends[i]->type)));
    for (size_t i = 0; i < core->controls.count; i++)
        put_name(&controlled, control[i]->workflow, control[i]->id);
    ask(transaction, PW_PG_EVENT_TARGETS, &targets, take_target, &core->sends);
    ask(transaction, PW_PG_CONTROL_TARGETS, &controlled, take_control, &core->controls);
}

/* The third group: which steps, events and event ids exist, and the last line of each log. */
static void ask_about_history(struct pw_transaction *transaction)
{
    struct pw_core *core = &transaction->core;
    struct pw_core_event_id **id = core->event_ids.list.rows;
    struct pw_columns ids = no_columns(transaction);
    for (size_t i = 0; i < core->event_ids.list.count; i++)
        pw_columns_row(&ids, PW_VALUES(pw_int(id[i]->instance), pw_int(id[i]->run), pw_str(id[i]->id)));
    ask_about_places(transaction, PW_PG_STEP_FIND, &core->steps.list, 3, take_step);
    ask_about_places(transaction, PW_PG_EVENT_FIND, &core->events.list, 3, take_event);
    ask(transaction, PW_PG_EVENT_FIND_ID, &ids, take_event_id, &core->event_ids.list);
    ask_about_places(transaction, PW_PG_LOG_TAIL, &core->tails.list, 2, take_tail);
}

/* A claim that needs a gate is not sent with the look: a transaction that does not get the gate must not lock tasks. */
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

/* Finds go out with the look, up to the first op that could create or change tasks or deliveries in another way.
 * Several finds of one look find the same deliveries, so each finds as many more as the earlier ones may take. */
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

/* Asks the core what the units need, and sends all statements that load and lock it.  The caller waits for the
 * answers. */
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
    if (!must_wait && !want_owed(transaction)) /* the user's code would keep those tasks locked for long */
        return pw_no_memory(transaction);
    ask_about_runs(transaction);
    ask_about_names(transaction);
    ask_about_history(transaction);
    pw_lock_hooks(transaction);
    if (!send_finds(transaction, units, count))
        return pw_no_memory(transaction);
    *out_sent = must_wait || connection->reply_count > before || connection->failure.failed;
    return PAWL_OK;
}
