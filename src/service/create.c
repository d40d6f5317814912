/* create.c - creates instances, one or many in one unit of work.
 *
 * If the local runner has room, the transaction that creates the run also gives it to that runner, so that starting
 * needs no second write.  Otherwise the task is due for any runner.  The answer is made before the commit, so that
 * nothing can fail after it. */
#include "base/error.h"
#include "base/limits.h"
#include "engine/functions.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/inspect.h"
#include "service/request.h"
#include "service/rows.h"
#include "service/service.h"
#include "value/value.h"

static pawl_status check_instance(const struct pw_definition *definition, struct pw_text id, struct pw_text params,
                                  struct pawl_error *error)
{
    PAWL_TRY(pw_check_instance_id(id, error));
    return pw_json_check(params, definition->limits.payload_bytes_max, "params", error);
}

static struct pw_op *add_create_op(struct pw_unit *unit, struct pw_op_create create)
{
    struct pw_op *op = pw_unit_add(unit, PW_OP_CREATE);
    if (op != NULL) {
        if (unit->about == 0)
            pw_unit_about(unit, create.id);
        op->as.create = create;
    }
    return op;
}

static void reserve(pawl_engine *engine, struct pw_op_create *create)
{
    create->hold_owner = pw_local_reserve(engine, create->workflow, &create->hold_lease_ms);
}

/* Called after the commit, even a failed one: a reserved place is filled or given back. */
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
        pw_local_deliver(engine, NULL);
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

/* Fills in what only the commit knew. */
static void complete_answer(const struct pw_op_create *create, struct pawl_instance *instance)
{
    bool is_held = create->hold_owner != 0;
    instance->phase = is_held ? PAWL_PHASE_RUNNING : PAWL_PHASE_QUEUED;
    instance->created_at_ms = create->created_at_ms;
    instance->updated_at_ms = create->created_at_ms;
    instance->started_at_ms = is_held ? create->created_at_ms : 0;
}

/* One create in progress. */
struct creation {
    struct pw_request request;
    pawl_scope *scope;
    struct pw_op_create *op; /* in the unit */
    bool return_existing;
    struct pawl_instance instance, *out_instance;
    char generated[PW_ID_SIZE];
};

/* True if the id exists and the caller wants the existing instance, which must be read. */
static bool has_to_read(const struct pw_request *request)
{
    return request->unit.refusal == PW_REFUSED_INSTANCE_EXISTS && ((const struct creation *)request)->return_existing;
}

/* The end of the request: turns the result of the commit into the caller's answer. */
static pawl_status creation_end(struct pw_request *request)
{
    struct creation *creation = (struct creation *)request;
    const struct pw_op_create *op = creation->op;
    hand_off(request->engine, &request->unit, op);
    if (has_to_read(request))
        return pw_inspect_instance(request->engine, creation->scope, op->workflow, op->id, false,
                                   creation->out_instance, request->error);
    if (request->unit.status != PAWL_OK)
        return pw_request_report(request);
    complete_answer(op, &creation->instance);
    *creation->out_instance = creation->instance;
    return PAWL_OK;
}

/* Checks the arguments and builds the unit. */
static pawl_status creation_begin(struct creation *creation, pawl_scope *scope, const char *workflow,
                                  const struct pawl_create_options *options, struct pawl_instance *out_instance)
{
    struct pawl_create_options known = PAWL_CREATE_OPTIONS_INIT;
    pawl_engine *engine = creation->request.engine;
    struct pawl_error *error = creation->request.error;
    struct pw_definition *definition;
    PAWL_TRY(pw_check_workflow(engine, workflow, &definition, error));
    PAWL_TRY(pw_check_answer(scope, out_instance, "out_instance", error));
    PAWL_TRY(pw_check_options(options, &known, sizeof known, error));
    PAWL_TRY(pw_check_creatable(definition, error));
    if (known.id == NULL) {
        pw_engine_make_id(engine, creation->generated);
        known.id = creation->generated;
    }
    const struct pw_op_create create = { .workflow = definition->name,
                                         .id = pw_text_of(known.id),
                                         .params = pw_text_of(known.params_json),
                                         .terms = definition->terms };
    creation->scope = scope;
    creation->return_existing = known.return_existing;
    creation->out_instance = out_instance;
    PAWL_TRY(check_instance(definition, create.id, create.params, error));
    struct pw_op *op = add_create_op(&creation->request.unit, create);
    if (op == NULL || !prepare_answer(scope, &create, &creation->instance))
        return pw_error_plain(error, PAWL_NOMEM);
    creation->op = &op->as.create;
    reserve(engine, creation->op);
    return PAWL_OK;
}

static pawl_status create(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                          const struct pawl_create_options *options, struct pawl_instance *out_instance,
                          struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct creation *creation = pw_request_new(sizeof *creation, engine, creation_end, error, answered, user);
    if (creation == NULL)
        return PAWL_NOMEM;
    creation->request.reads_at_end = has_to_read;
    return pw_request_go(&creation->request, creation_begin(creation, scope, workflow, options, out_instance));
}

pawl_status pawl_create(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                        const struct pawl_create_options *options, struct pawl_instance *out_instance,
                        struct pawl_error *error)
{
    return create(engine, scope, workflow, options, out_instance, error, NULL, NULL);
}

void pawl_create_async(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                       const struct pawl_create_options *options, struct pawl_instance *out_instance,
                       struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)create(engine, scope, workflow, options, out_instance, error, answered, user);
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

/* Leaves out the instances that existed before.  Returns how many remain. */
static size_t complete_batch(const struct pw_unit *unit, struct pawl_instance *instances)
{
    size_t position = 0, created = 0;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind != PW_OP_CREATE) /* another op of the unit */
            continue;
        size_t at = position++;
        if (!op->as.create.created)
            continue;
        instances[created] = instances[at];
        complete_answer(&op->as.create, &instances[created++]);
    }
    return created;
}

/* A batch in progress. */
struct batch {
    struct pw_request request;
    struct pawl_instance *instances, **out_instances;
    size_t *out_count;
};

static pawl_status batch_end(struct pw_request *request)
{
    struct batch *batch = (struct batch *)request;
    for (struct pw_op *op = request->unit.first; op != NULL; op = op->next) {
        if (op->kind == PW_OP_CREATE)
            hand_off(request->engine, &request->unit, &op->as.create);
    }
    if (request->unit.status != PAWL_OK)
        return pw_request_report(request);
    *batch->out_count = complete_batch(&request->unit, batch->instances);
    *batch->out_instances = batch->instances;
    return PAWL_OK;
}

static pawl_status batch_begin(struct batch *batch, pawl_scope *scope, const char *workflow,
                               const struct pawl_batch_item *items, size_t count)
{
    pawl_engine *engine = batch->request.engine;
    struct pawl_error *error = batch->request.error;
    struct pw_unit *unit = &batch->request.unit;
    struct pw_definition *definition;
    PAWL_TRY(pw_check_workflow(engine, workflow, &definition, error));
    PAWL_TRY(pw_check_given(scope, "scope", error));
    if (count > 0)
        PAWL_TRY(pw_check_given(items, "items", error));
    PAWL_TRY(pw_check_given(batch->out_instances, "out_instances", error));
    PAWL_TRY(pw_check_given(batch->out_count, "out_count", error));
    PAWL_TRY(pw_check_creatable(definition, error));
    PAWL_TRY(check_batch(definition, items, count, error));
    batch->instances = pw_scope_take(scope, count * sizeof *batch->instances + 1); /* not NULL for none */
    if (batch->instances == NULL || build_batch(scope, definition, items, count, unit, batch->instances) != PAWL_OK)
        return pw_error_plain(error, PAWL_NOMEM);
    for (struct pw_op *op = unit->first; op != NULL; op = op->next)
        reserve(engine, &op->as.create);
    return PAWL_OK;
}

static pawl_status create_batch(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                                const struct pawl_batch_item *items, size_t count, struct pawl_instance **out_instances,
                                size_t *out_count, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    struct batch *batch = pw_request_new(sizeof *batch, engine, batch_end, error, answered, user);
    if (batch == NULL)
        return PAWL_NOMEM;
    batch->out_instances = out_instances;
    batch->out_count = out_count;
    return pw_request_go(&batch->request, batch_begin(batch, scope, workflow, items, count));
}

pawl_status pawl_create_batch(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                              const struct pawl_batch_item *items, size_t count, struct pawl_instance **out_instances,
                              size_t *out_count, struct pawl_error *error)
{
    return create_batch(engine, scope, workflow, items, count, out_instances, out_count, error, NULL, NULL);
}

void pawl_create_batch_async(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                             const struct pawl_batch_item *items, size_t count, struct pawl_instance **out_instances,
                             size_t *out_count, struct pawl_error *error, pawl_answered_fn *answered, void *user)
{
    (void)create_batch(engine, scope, workflow, items, count, out_instances, out_count, error, answered, user);
}

/* ---- In another layer's unit ----------------------------------------------------------------------------------- */

/* The workflow of a job need not be registered here. */
static pawl_status check_made(pawl_engine *engine, const struct pw_link *link, struct pw_text workflow,
                              struct pw_text id, struct pw_text params, struct pawl_error *error)
{
    struct pw_definition *definition;
    if (link->relation == PW_RELATION_JOB) {
        pawl_status status = pw_is_job_workflow(workflow) ? PAWL_OK : PAWL_INVALID_FUNCTION_NAME;
        return status == PAWL_OK ? pw_function_check(workflow.data + 1, error) : pw_error_plain(error, status);
    }
    PAWL_TRY(pw_check_workflow(engine, workflow.data, &definition, error));
    PAWL_TRY(pw_check_creatable(definition, error));
    if (id.data != NULL)
        PAWL_TRY(pw_check_instance_id(id, error));
    return pw_json_check(params, definition->limits.payload_bytes_max, "params", error);
}

pawl_status pw_service_add_create(pawl_engine *engine, struct pw_unit *unit, const struct pw_link *link,
                                  struct pw_text workflow, struct pw_text id, struct pw_text params,
                                  struct pawl_error *error)
{
    static const struct pw_link none = { .relation = PW_RELATION_NONE };
    PAWL_TRY(check_made(engine, link != NULL ? link : &none, workflow, id, params, error));
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
