/* create.c - new instances, one or many in one unit of work.
 *
 * Where the local runner has room it is handed the run in the transaction that creates it, so that starting needs no
 * second write; otherwise the task is due, for any runner.  The answer is made before the commit, so that nothing can
 * fail after it. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "engine/functions.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/inspect.h"
#include "service/rows.h"
#include "service/service.h"
#include "value/value.h"

static pawl_status check_instance(const struct pw_definition *definition, struct pw_text id, struct pw_text params,
                                  struct pawl_error *error)
{
    pawl_status status = pw_check_instance_id(id, error);
    if (status == PAWL_OK)
        status = pw_json_check(params, definition->limits.payload_bytes_max, "params", error);
    return status;
}

static struct pw_op *add_create_op(struct pw_unit *unit, struct pw_op_create create)
{
    struct pw_op *op = pw_unit_add(unit, PW_OP_CREATE);
    if (op != NULL) {
        if (unit->lane == 0)
            pw_unit_about(unit, create.id);
        op->as.create = create;
    }
    return op;
}

static void reserve(pawl_engine *engine, struct pw_op_create *create)
{
    create->hold_owner = pw_local_reserve(engine, create->workflow, &create->hold_lease_ms);
}

/* What follows the commit, also a failed one: a place that was reserved is filled or given back. */
static void hand_off(pawl_engine *engine, const struct pw_unit *unit, const struct pw_op_create *create)
{
    bool created = unit->status == PAWL_OK && create->created;
    if (created && create->hold_owner != 0) {
        struct pw_claim claim = pw_edit_first_claim(create->fence, create->workflow, create->id);
        claim.has_instance = true;
        claim.params = create->params;
        claim.created_at_ms = claim.updated_at_ms = create->created_at_ms;
        claim.leased_from_ms = unit->begun_ms;
        pw_local_deliver(engine, &claim);
    } else if (create->hold_owner != 0) {
        pw_local_cancel(engine);
    } else if (created) {
        pw_local_wake(engine, PW_NOW);
    }
}

/* The part of the answer that needs memory. */
static bool prepare_answer(pawl_scope *scope, const struct pw_op_create *create, struct pawl_instance *out_instance)
{
    const struct pw_instance row = { .workflow = create->workflow,
                                     .id = create->id,
                                     .params = create->params,
                                     .terms = create->terms,
                                     .run = 1,
                                     .has_task = true };
    return pw_rows_instance(scope, &row, out_instance) == PAWL_OK;
}

static void complete_answer(const struct pw_op_create *create, struct pawl_instance *instance)
{
    bool is_held = create->hold_owner != 0;
    instance->phase = is_held ? PAWL_PHASE_RUNNING : PAWL_PHASE_QUEUED;
    instance->created_at_ms = create->created_at_ms;
    instance->updated_at_ms = create->created_at_ms;
    instance->started_at_ms = is_held ? create->created_at_ms : 0;
}

/* One create under way. */
struct creation {
    pawl_engine *engine;
    pawl_scope *scope;
    const struct pw_definition *definition;
    struct pw_text id, params;
    bool return_existing;
    struct pw_unit unit;
    struct pw_op *op;
    struct pawl_instance instance, *out_instance;
    struct pawl_error *error;
    pawl_answered_fn *answered; /* NULL: somebody waits */
    void *user;
    struct pw_chore chore; /* its answer, where that has to be read */
    char generated[PW_ID_SIZE];
};

/* Checks what was asked for and builds the unit. */
static pawl_status creation_begin(struct creation *creation, pawl_engine *engine, pawl_scope *scope,
                                  const char *workflow, const struct pawl_create_options *options,
                                  struct pawl_instance *out_instance, struct pawl_error *error)
{
    struct pawl_create_options known = PAWL_CREATE_OPTIONS_INIT;
    struct pw_definition *definition;
    pw_unit_init(&creation->unit);
    pawl_status status = pw_check_workflow(engine, workflow, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_instance, "out_instance", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status != PAWL_OK)
        return status;

    if (known.id == NULL) {
        pw_engine_make_id(engine, creation->generated);
        known.id = creation->generated;
    }
    status = pw_check_creatable(definition, error);
    if (status != PAWL_OK)
        return status;
    creation->engine = engine;
    creation->scope = scope;
    creation->definition = definition;
    creation->id = pw_text_of(known.id);
    creation->params = pw_text_of(known.params_json);
    creation->return_existing = known.return_existing;
    creation->out_instance = out_instance;
    creation->error = error;
    status = check_instance(definition, creation->id, creation->params, error);
    if (status != PAWL_OK)
        return status;
    creation->op = add_create_op(&creation->unit, (struct pw_op_create){ .workflow = definition->name,
                                                                         .id = creation->id,
                                                                         .params = creation->params,
                                                                         .terms = definition->terms });
    if (creation->op == NULL || !prepare_answer(scope, &creation->op->as.create, &creation->instance))
        return pw_error_plain(error, PAWL_NOMEM);
    reserve(engine, &creation->op->as.create);
    return PAWL_OK;
}

static bool has_to_read(const struct creation *creation)
{
    return creation->unit.status == PAWL_INSTANCE_ID_ALREADY_EXISTS && creation->return_existing;
}

/* What the commit said becomes what the caller is told. */
static pawl_status creation_end(struct creation *creation)
{
    pawl_status status = creation->unit.status;
    hand_off(creation->engine, &creation->unit, &creation->op->as.create);
    if (status == PAWL_OK) {
        complete_answer(&creation->op->as.create, &creation->instance);
        *creation->out_instance = creation->instance;
        return PAWL_OK;
    }
    struct pw_text workflow = creation->definition->name;
    if (has_to_read(creation))
        return pw_inspect_instance(creation->engine, creation->scope, workflow, creation->id, creation->out_instance,
                                   creation->error);
    if (status == PAWL_INSTANCE_ID_ALREADY_EXISTS)
        return pw_error(creation->error, status, "workflow \"%s\" has an instance \"%s\" already", workflow.data,
                        creation->id.data);
    return pw_edit_report(creation->error, status, &creation->unit.error);
}

pawl_status pawl_create(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                        const struct pawl_create_options *options, struct pawl_instance *out_instance,
                        struct pawl_error *error)
{
    struct creation creation;
    pawl_status status = creation_begin(&creation, engine, scope, workflow, options, out_instance, error);
    if (status == PAWL_OK) {
        (void)pw_engine_run(engine, &creation.unit);
        status = creation_end(&creation);
    }
    pw_unit_clear(&creation.unit);
    return status;
}

/* Freed before it is answered: the answer may be what lets go of all that it borrows. */
static void creation_answer(struct creation *creation, pawl_status status)
{
    pawl_answered_fn *answered = creation->answered;
    void *user = creation->user;
    pw_unit_clear(&creation->unit);
    free(creation);
    answered(user, status);
}

static void creation_finish(void *user)
{
    creation_answer(user, creation_end(user));
}

static void creation_committed(struct pw_unit *unit, void *user)
{
    struct creation *creation = user;
    (void)unit;
    if (has_to_read(creation))
        pw_commit_later(creation->engine->commit, &creation->chore);
    else
        creation_finish(creation);
}

void pawl_create_async(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                       const struct pawl_create_options *options, struct pawl_instance *out_instance,
                       struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct creation *creation = malloc(sizeof *creation);
    if (creation == NULL) {
        answered(user, pw_error_plain(error, PAWL_NOMEM));
        return;
    }
    creation->answered = answered;
    creation->user = user;
    pawl_status status = creation_begin(creation, engine, scope, workflow, options, out_instance, error);
    if (status != PAWL_OK) {
        creation_answer(creation, status);
        return;
    }
    creation->chore = (struct pw_chore){ .run = creation_finish, .user = creation };
    creation->unit.done = creation_committed;
    creation->unit.user = creation;
    pw_engine_send(engine, &creation->unit);
}

static pawl_status check_batch(const struct pw_definition *definition, const struct pawl_batch_item *items,
                               size_t count, struct pawl_error *error)
{
    if (count > PW_BATCH_CREATE_MAX)
        return pw_error(error, PAWL_INVALID, "a batch has at most %d instances; this one has %zu", PW_BATCH_CREATE_MAX,
                        count);
    for (size_t i = 0; i < count; i++) {
        struct pawl_error item;
        pawl_status status =
            check_instance(definition, pw_text_of(items[i].id), pw_text_of(items[i].params_json), &item);
        if (status != PAWL_OK)
            return pw_error(error, status, "instances[%zu]: %s", i, item.text);
    }
    return PAWL_OK;
}

static pawl_status build_batch(pawl_scope *scope, const struct pw_definition *definition,
                               const struct pawl_batch_item *items, size_t count, struct pw_unit *unit,
                               struct pawl_instance *instances)
{
    for (size_t i = 0; i < count; i++) {
        struct pw_op *op = add_create_op(unit, (struct pw_op_create){ .workflow = definition->name,
                                                                      .id = pw_text_of(items[i].id),
                                                                      .params = pw_text_of(items[i].params_json),
                                                                      .terms = definition->terms,
                                                                      .skip_existing = true });
        if (op == NULL || !prepare_answer(scope, &op->as.create, &instances[i]))
            return PAWL_NOMEM;
    }
    return PAWL_OK;
}

/* Leaves out the instances that were there before; returns how many remain. */
static size_t complete_batch(const struct pw_unit *unit, struct pawl_instance *instances)
{
    size_t position = 0, created = 0;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind != PW_OP_CREATE) /* what else is recorded with it */
            continue;
        size_t at = position++;
        if (!op->as.create.created)
            continue;
        instances[created] = instances[at];
        complete_answer(&op->as.create, &instances[created++]);
    }
    return created;
}

/* A batch under way. */
struct batch {
    pawl_engine *engine;
    struct pw_unit unit;
    struct pawl_instance *instances, **out_instances;
    size_t *out_count;
    struct pawl_error *error;
    pawl_answered_fn *answered;
    void *user;
};

static pawl_status batch_begin(struct batch *batch, pawl_engine *engine, pawl_scope *scope, const char *workflow,
                               const struct pawl_batch_item *items, size_t count, struct pawl_instance **out_instances,
                               size_t *out_count, struct pawl_error *error)
{
    struct pw_definition *definition;
    pw_unit_init(&batch->unit);
    pawl_status status = pw_check_workflow(engine, workflow, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK && count > 0)
        status = pw_check_given(items, "items", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_instances, "out_instances", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_count, "out_count", error);
    if (status == PAWL_OK)
        status = pw_check_creatable(definition, error);
    if (status == PAWL_OK)
        status = check_batch(definition, items, count, error);
    if (status != PAWL_OK)
        return status;
    batch->engine = engine;
    batch->out_instances = out_instances;
    batch->out_count = out_count;
    batch->error = error;
    batch->instances = pw_scope_take(scope, count * sizeof *batch->instances + 1); /* not NULL for none */
    status = batch->instances != NULL ? build_batch(scope, definition, items, count, &batch->unit, batch->instances)
                                      : PAWL_NOMEM;
    if (status != PAWL_OK)
        return pw_error_plain(error, status);
    for (struct pw_op *op = batch->unit.first; op != NULL; op = op->next)
        reserve(engine, &op->as.create);
    return PAWL_OK;
}

static pawl_status batch_end(struct batch *batch)
{
    pawl_status status = batch->unit.status;
    for (struct pw_op *op = batch->unit.first; op != NULL; op = op->next) {
        if (op->kind == PW_OP_CREATE)
            hand_off(batch->engine, &batch->unit, &op->as.create);
    }
    if (status != PAWL_OK)
        return pw_edit_report(batch->error, status, &batch->unit.error);
    *batch->out_count = complete_batch(&batch->unit, batch->instances);
    *batch->out_instances = batch->instances;
    return PAWL_OK;
}

pawl_status pawl_create_batch(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                              const struct pawl_batch_item *items, size_t count, struct pawl_instance **out_instances,
                              size_t *out_count, struct pawl_error *error)
{
    struct batch batch;
    pawl_status status = batch_begin(&batch, engine, scope, workflow, items, count, out_instances, out_count, error);
    if (status == PAWL_OK && count > 0)
        (void)pw_engine_run(engine, &batch.unit);
    if (status == PAWL_OK)
        status = batch_end(&batch);
    pw_unit_clear(&batch.unit);
    return status;
}

static void batch_answer(struct batch *batch, pawl_status status)
{
    pawl_answered_fn *answered = batch->answered;
    void *user = batch->user;
    pw_unit_clear(&batch->unit);
    free(batch);
    answered(user, status);
}

static void batch_committed(struct pw_unit *unit, void *user)
{
    (void)unit;
    batch_answer(user, batch_end(user));
}

void pawl_create_batch_async(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                             const struct pawl_batch_item *items, size_t count, struct pawl_instance **out_instances,
                             size_t *out_count, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct batch *batch = malloc(sizeof *batch);
    if (batch == NULL) {
        answered(user, pw_error_plain(error, PAWL_NOMEM));
        return;
    }
    batch->answered = answered;
    batch->user = user;
    pawl_status status = batch_begin(batch, engine, scope, workflow, items, count, out_instances, out_count, error);
    if (status != PAWL_OK || count == 0) {
        batch_answer(batch, status == PAWL_OK ? batch_end(batch) : status);
        return;
    }
    batch->unit.done = batch_committed;
    batch->unit.user = batch;
    pw_engine_send(engine, &batch->unit);
}

/* ---- In somebody else's unit ----------------------------------------------------------------------------------- */

/* Of a job the workflow need not be known here. */
static pawl_status check_made(pawl_engine *engine, const struct pw_link *link, struct pw_text workflow,
                              struct pw_text id, struct pw_text params, struct pawl_error *error)
{
    struct pw_definition *definition;
    if (link->relation == PW_RELATION_JOB) {
        pawl_status status = pw_is_job_workflow(workflow) ? PAWL_OK : PAWL_INVALID_FUNCTION_NAME;
        return status == PAWL_OK ? pw_function_check(workflow.data + 1, error) : pw_error_plain(error, status);
    }
    pawl_status status = pw_check_workflow(engine, workflow.data, &definition, error);
    if (status == PAWL_OK)
        status = pw_check_creatable(definition, error);
    if (status == PAWL_OK && id.data != NULL)
        status = pw_check_instance_id(id, error);
    if (status == PAWL_OK)
        status = pw_json_check(params, definition->limits.payload_bytes_max, "params", error);
    return status;
}

pawl_status pw_service_add_create(pawl_engine *engine, struct pw_unit *unit, const struct pw_link *link,
                                  struct pw_text workflow, struct pw_text id, struct pw_text params,
                                  struct pawl_error *error)
{
    static const struct pw_link none = { .relation = PW_RELATION_NONE };
    pawl_status status = check_made(engine, link != NULL ? link : &none, workflow, id, params, error);
    if (status != PAWL_OK)
        return status;
    if (id.data == NULL) {
        char *generated = pw_arena_take(&unit->arena, PW_ID_SIZE);
        if (generated == NULL)
            return pw_error_plain(error, PAWL_NOMEM);
        pw_engine_make_id(engine, generated);
        id = pw_text_of(generated);
    }
    const struct pw_op_create create = { .workflow = workflow,
                                         .id = id,
                                         .params = params,
                                         .link = link != NULL ? *link : none,
                                         .terms = pw_engine_terms(engine, workflow) };
    return add_create_op(unit, create) != NULL ? PAWL_OK : pw_error_plain(error, PAWL_NOMEM);
}
