/* ask.c - calls over HTTP: see ask.h. */
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "world.h"

enum { HANGS_UP_ONE_IN = 12, WAIT_MS_MAX = 20000, LOOK_AGAIN_MS = 1000, ROUNDS_MAX = 200 };

/* ---- Their life -------------------------------------------------------------------------------------------------------- */

/* Called by the handler: only noted.  While the call is carried on it may take notice by itself. */
static void note_ready(void *user)
{
    struct sim_ask *ask = user;
    ask->is_ready = ask->is_ready || !ask->is_busy;
    ask->was_ready = true;
}

struct sim_ask *sim_ask_new(struct sim_world *world, struct sim_process *process, enum sim_ask_kind kind)
{
    struct sim_ask *ask = world->asks;
    while (ask < world->asks + SIM_ASKS_MAX && ask->is_open)
        ask++;
    if (ask == world->asks + SIM_ASKS_MAX)
        return NULL;
    memset(ask, 0, offsetof(struct sim_ask, mark));
    ask->kind = kind;
    ask->process = process;
    ask->faults = world->faults;
    ask->request = (struct pawl_http_request)PAWL_HTTP_REQUEST_INIT;
    ask->request.method = "GET";
    ask->request.target = ask->target;
    ask->request.body = ask->body;
    ask->request.headers = &ask->header;
    world->counts->requests++;
    return ask;
}

bool sim_ask_take_up(struct sim_ask *ask)
{
    ask->request.body_size = strlen(ask->body);
    ask->call = pawl_http_call_new(ask->process->http, &ask->request, note_ready, ask);
    ask->is_open = ask->call != NULL;
    return ask->is_open;
}

void sim_ask_free(struct sim_ask *ask)
{
    pawl_http_call_free(ask->call);
    ask->is_open = false;
}

static enum sim_context context_of(const struct sim_ask *ask)
{
    switch (ask->kind) {
    case SIM_ASK_DEED:
        return SIM_CONTEXT_CLIENT;
    case SIM_ASK_RESULT:
        return SIM_CONTEXT_RESULT;
    case SIM_ASK_STREAM:
        return SIM_CONTEXT_STREAM;
    case SIM_ASK_LOOK:
        break;
    }
    return SIM_CONTEXT_LOOK;
}

bool sim_ask_go(struct sim_world *world, struct sim_ask *ask, const struct pawl_http_response **out_response)
{
    enum sim_context context = world->context;
    int64_t again_at_ms = 0;
    world->context = context_of(ask);
    ask->is_busy = true;
    bool is_answered = pawl_http_call_answer(ask->call, out_response, &again_at_ms);
    ask->is_busy = false;
    world->context = context;
    ask->again_at_ms = is_answered ? 0 : again_at_ms;
    sim_trace("%lld process %d: %s %s %s -> %d", (long long)world->now_ms, (int)(ask->process - world->processes),
              ask->request.method, ask->target, ask->body, is_answered ? (*out_response)->status : 0);
    return is_answered && !ask->process->is_dead;
}

/* ---- Responses --------------------------------------------------------------------------------------------------------- */

static const char *header_of(const struct pawl_http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    }
    return "";
}

/* The refusals that a correct client can meet. */
static bool find_refusal(int http_status, const char *code, pawl_status *out_status)
{
    static const struct {
        int http_status;
        pawl_status status;
    } known[] = {
        { 409, PAWL_INSTANCE_ID_ALREADY_EXISTS }, { 409, PAWL_INSTANCE_TERMINAL },  { 409, PAWL_NOT_REPAIRABLE },
        { 400, PAWL_INVALID_STEP_NAME },          { 404, PAWL_DELIVERY_NOT_FOUND }, { 503, PAWL_STORE_UNAVAILABLE }
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        *out_status = known[i].status;
        if (known[i].http_status == http_status && strcmp(code, pawl_status_name(known[i].status)) == 0)
            return true;
    }
    return false;
}

pawl_status sim_response_status(const struct sim_world *world, const struct sim_ask *ask, pawl_scope *scope,
                                const struct pawl_http_response *response, const pawl_value **out_body)
{
    pawl_value *body = NULL;
    pawl_status status = PAWL_OK;
    SIM_CHECK(SIM_RULE_RESPONSE, response->status != 500, "%s: %s", ask->target, response->body);
    SIM_CHECK(SIM_RULE_RESPONSE,
              strcmp(header_of(response, "Content-Type"), "application/json") == 0 &&
                  pawl_value_parse(scope, response->body, response->body_size, &body, NULL) == PAWL_OK,
              "%s: the answer is not JSON: %s", ask->target, response->body);
    if (response->status != 200 && response->status != 202) {
        SIM_CHECK(SIM_RULE_RESPONSE, find_refusal(response->status, pawl_value_string(body, "code", ""), &status),
                  "%s %s: %d, %s", ask->target, ask->body, response->status, response->body);
        SIM_CHECK(SIM_RULE_RESPONSE, status != PAWL_STORE_UNAVAILABLE || world->faults > ask->faults,
                  "%s: the store is blamed for nothing", ask->target);
    }
    *out_body = body;
    return status;
}

pawl_status sim_ask_now(struct sim_world *world, struct sim_process *process, pawl_scope *scope, const char *method,
                        const char *target, const pawl_value **out_body)
{
    const struct pawl_http_response *response;
    struct sim_ask *ask = sim_ask_new(world, process, SIM_ASK_LOOK);
    pawl_status status = PAWL_STORE_UNAVAILABLE;
    if (ask == NULL)
        return status;
    (void)snprintf(ask->target, sizeof ask->target, "%s", target);
    ask->request.method = method;
    process->on_stack++;
    if (sim_ask_take_up(ask)) {
        bool is_answered = sim_ask_go(world, ask, &response);
        SIM_CHECK(SIM_RULE_RESPONSE, is_answered || process->is_dead, "%s waits", target);
        if (is_answered)
            status = sim_response_status(world, ask, scope, response, out_body);
        sim_ask_free(ask);
    }
    sim_process_left(world, process);
    return status;
}

/* ---- Deeds ------------------------------------------------------------------------------------------------------------- */

static void write_create(struct sim_ask *ask)
{
    const struct sim_deed *deed = &ask->deed;
    bool is_batch = deed->kind == SIM_DEED_BATCH;
    (void)snprintf(ask->target, sizeof ask->target, "/api/workflows/alpha/instances%s", is_batch ? "/batch" : "");
    if (is_batch)
        (void)snprintf(ask->body, sizeof ask->body,
                       "{\"instances\":[{\"id\":\"%s\",\"params\":%s},{\"id\":\"batched\",\"params\":%s}]}", deed->id,
                       deed->payload, deed->payload);
    else
        (void)snprintf(ask->body, sizeof ask->body, "{\"id\":\"%s\",\"params\":%s%s}", deed->id, deed->payload,
                       deed->return_existing ? ",\"onConflict\":\"return\"" : "");
}

static void write_change(struct sim_ask *ask)
{
    const struct sim_deed *deed = &ask->deed;
    bool is_from = deed->kind == SIM_DEED_RESTART_FROM;
    (void)snprintf(ask->target, sizeof ask->target, "/api/workflows/%s/instances/%s/%s", deed->instance->workflow,
                   deed->instance->id, sim_deed_name(is_from ? SIM_DEED_RESTART : deed->kind));
    if (is_from)
        (void)snprintf(ask->body, sizeof ask->body, "{\"from\":\"%s\"}", deed->id);
    else if (deed->kind == SIM_DEED_EVENT && deed->has_id)
        (void)snprintf(ask->body, sizeof ask->body, "{\"type\":\"%s\",\"payload\":%s,\"id\":\"%s\"}", deed->type,
                       deed->payload, deed->id);
    else if (deed->kind == SIM_DEED_EVENT)
        (void)snprintf(ask->body, sizeof ask->body, "{\"type\":\"%s\",\"payload\":%s}", deed->type, deed->payload);
}

/* Just those that the batch made are named. */
static void check_batch(struct sim_world *world, const struct sim_deed *deed, const pawl_value *body)
{
    const pawl_value *listed = pawl_value_at(body, "instances");
    size_t count = pawl_value_size(listed, NULL);
    for (size_t i = 0; i < count; i++) {
        const char *id = pawl_value_string(pawl_value_item(listed, i), "id", "");
        bool existed = strcmp(id, "batched") == 0 ? deed->other_existed : deed->existed;
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED, !existed && sim_model_find(&world->model, "alpha", id) != NULL,
                  "a batch created %s", id);
    }
    SIM_CHECK(SIM_RULE_ACKNOWLEDGED,
              !sim_deed_is_alone(world, deed) || count == (size_t)(!deed->existed + !deed->other_existed),
              "a batch created %zu", count);
}

static void answer_deed(struct sim_world *world, struct sim_ask *ask, const struct pawl_http_response *response)
{
    const struct sim_deed *deed = &ask->deed;
    const pawl_value *body = NULL;
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = sim_response_status(world, ask, scope, response, &body);
    if (status == PAWL_OK && deed->kind == SIM_DEED_BATCH)
        check_batch(world, deed, body);
    if (status == PAWL_OK && deed->kind == SIM_DEED_CREATE)
        SIM_CHECK(SIM_RULE_ACKNOWLEDGED, strcmp(pawl_value_string(body, "id", ""), deed->id) == 0, "creating %s: %s",
                  deed->id, response->body);
    sim_deed_check(world, deed, status);
    pawl_scope_free(scope);
}

/* ---- Results ----------------------------------------------------------------------------------------------------------- */

static void check_result(const struct sim_world *world, const struct sim_ask *ask, pawl_scope *scope,
                         const struct pawl_http_response *response, const pawl_value *body, uint64_t actions)
{
    struct sim_instance *instance = ask->instance;
    int64_t run = pawl_value_int(body, "runNumber", 0);
    const char *status = pawl_value_string(body, "details.status", "");
    SIM_CHECK(SIM_RULE_RESULT_TOLD, run >= 1 && run <= instance->run, "%s: run %lld", instance->id, (long long)run);
    const struct sim_instance ended = { .outcome = sim_model_run(instance, run)->outcome };
    bool is_same = strcmp(status, pawl_instance_status_name(sim_status_of(&ended))) == 0;
    if (response->status == 200)
        SIM_CHECK(SIM_RULE_RESULT_TOLD, ended.outcome != PW_OUTCOME_OPEN && is_same, "%s, run %lld: %s", instance->id,
                  (long long)run, response->body);
    else
        SIM_CHECK(SIM_RULE_RESULT_TOLD, world->model.latest_ms >= ask->until_ms || ask->process->is_draining,
                  "the wait for %s ends too early", instance->id);
    if (world->counts->actions != actions)
        return; /* others came in between */
    SIM_CHECK(SIM_RULE_RESULT_TOLD,
              (response->status == 200) == (instance->outcome != PW_OUTCOME_OPEN) &&
                  strcmp(status, pawl_instance_status_name(sim_status_of(instance))) == 0 && run == instance->run &&
                  sim_shows_json(scope, body, "details.output", instance->output) &&
                  sim_shows_text(body, "details.error.name", instance->error_name) &&
                  sim_shows_text(body, "details.error.message", instance->error_message),
              "%s: %d, %s", instance->id, response->status, response->body);
}

static void answer_result(struct sim_world *world, struct sim_ask *ask, const struct pawl_http_response *response,
                          uint64_t actions)
{
    const pawl_value *body = NULL;
    pawl_scope *scope = pawl_scope_new();
    if (sim_response_status(world, ask, scope, response, &body) == PAWL_OK)
        check_result(world, ask, scope, response, body, actions);
    pawl_scope_free(scope);
}

/* ---- Asking, and asking again ------------------------------------------------------------------------------------------ */

/* It says "not yet" to one that was told to look, or that it was time to. */
static void check_patience(const struct sim_world *world, const struct sim_ask *ask)
{
    if (ask->kind == SIM_ASK_DEED)
        sim_fail(SIM_RULE_RESPONSE, "%s %s waits for what is done", ask->target, ask->body);
    SIM_CHECK(SIM_RULE_RESULT_TOLD,
              ask->instance->outcome == PW_OUTCOME_OPEN && ask->again_at_ms <= world->now_ms + LOOK_AGAIN_MS,
              "whoever waits for %s is not told", ask->instance->id);
}

static void carry_on(struct sim_world *world, struct sim_ask *ask)
{
    struct sim_process *process = ask->process;
    const struct pawl_http_response *response;
    uint64_t actions = world->counts->actions;
    bool is_time = ask->is_ready || (ask->again_at_ms != 0 && world->now_ms >= ask->again_at_ms);
    SIM_CHECK(SIM_RULE_RESULT_TOLD, !ask->is_news || ask->is_ready, "%s: what is committed is not told", ask->target);
    ask->is_ready = ask->is_news = false;
    process->on_stack++;
    bool is_answered = sim_ask_go(world, ask, &response);
    if (is_answered && ask->kind == SIM_ASK_DEED)
        answer_deed(world, ask, response);
    else if (is_answered)
        answer_result(world, ask, response, actions);
    else if (!process->is_dead && is_time && world->counts->actions == actions)
        check_patience(world, ask);
    if (is_answered)
        sim_ask_free(ask);
    else
        world->counts->waits++;
    sim_process_left(world, process);
}

bool sim_ask_deed(struct sim_world *world, struct sim_process *process, const struct sim_deed *deed)
{
    struct sim_ask *ask = sim_ask_new(world, process, SIM_ASK_DEED);
    if (ask == NULL)
        return false;
    ask->deed = *deed;
    ask->request.method = "POST";
    if (deed->kind == SIM_DEED_RESEND)
        (void)snprintf(ask->target, sizeof ask->target, "/api/hooks/deliveries/%s/resend", deed->id);
    else if (deed->instance == NULL)
        write_create(ask);
    else
        write_change(ask);
    if (!sim_ask_take_up(ask))
        return false;
    carry_on(world, ask);
    return true;
}

void sim_ask_result(struct sim_world *world, struct sim_process *process, struct sim_instance *instance)
{
    struct sim_ask *ask = sim_ask_new(world, process, SIM_ASK_RESULT);
    int wait_ms = sim_below(&world->chance, 3) == 0 ? 0 : sim_below(&world->chance, WAIT_MS_MAX);
    if (ask == NULL)
        return;
    (void)snprintf(ask->target, sizeof ask->target, "/api/workflows/%s/instances/%s/result?waitMs=%d",
                   instance->workflow, instance->id, wait_ms);
    ask->instance = instance;
    ask->until_ms = world->now_ms + wait_ms;
    if (sim_ask_take_up(ask))
        carry_on(world, ask);
}

/* A change that was handed over is carried out before its call can go. */
static void let_go(struct sim_ask *ask)
{
    if (ask->kind == SIM_ASK_DEED && !ask->was_ready)
        sim_process_commit(ask->process);
    SIM_CHECK(SIM_RULE_RESPONSE, ask->kind != SIM_ASK_DEED || ask->was_ready, "%s %s is never answered", ask->target,
              ask->body);
    sim_ask_free(ask);
}

void sim_ask_act(struct sim_world *world)
{
    struct sim_ask *ask = &world->asks[sim_below(&world->chance, SIM_ASKS_MAX)];
    if (!ask->is_open || ask->is_busy || ask->process->is_dead || ask->process->is_stopped ||
        ask->kind == SIM_ASK_STREAM)
        return;
    if (sim_below(&world->chance, HANGS_UP_ONE_IN) != 0) {
        carry_on(world, ask);
        return;
    }
    struct sim_process *process = ask->process;
    /* Where the process is in the middle of a commit it cannot carry out another change first. */
    if (process->on_stack > 0 && ask->kind == SIM_ASK_DEED && !ask->was_ready)
        return;
    sim_trace("the client of %s hangs up", ask->target);
    process->on_stack++;
    let_go(ask);
    sim_process_left(world, process);
}

void sim_asks_news(struct sim_world *world, const struct sim_process *process, struct pw_unit **units, size_t count)
{
    for (int i = 0; i < SIM_ASKS_MAX; i++) {
        struct sim_ask *ask = &world->asks[i];
        if (!ask->is_open || ask->is_busy || ask->process != process || ask->kind == SIM_ASK_DEED)
            continue;
        for (size_t j = 0; j < count; j++) {
            const struct pw_op *op = units[j]->status == PAWL_OK ? units[j]->first : NULL;
            for (; op != NULL; op = op->next)
                ask->is_news |=
                    (sim_finish_of(op) != NULL && sim_finish_of(op)->instance == ask->instance->key) ||
                    (op->kind == PW_OP_CONTROL && op->as.control.is_done && op->as.control.what > PAWL_CONTROL_RESUME &&
                     op->as.control.at.instance == ask->instance->key && ask->kind == SIM_ASK_STREAM) ||
                    (op->kind == PW_OP_LOG && op->as.log.instance == ask->instance->key && ask->kind == SIM_ASK_STREAM);
        }
    }
}

/* ---- The end of a process, and of the world ---------------------------------------------------------------------------- */

void sim_asks_drain(struct sim_world *world, struct sim_process *process)
{
    process->is_draining = true;
    pawl_http_drain(process->http);
    sim_process_commit(process);
    for (int i = 0; i < SIM_ASKS_MAX; i++) {
        struct sim_ask *ask = &world->asks[i];
        if (!ask->is_open || ask->process != process || process->is_dead)
            continue;
        if (ask->kind == SIM_ASK_STREAM)
            sim_follow_drain(world, ask);
        else
            carry_on(world, ask);
        SIM_CHECK(SIM_RULE_RESPONSE, !ask->is_open || ask->process != process || process->is_dead,
                  "%s outlives the drain", ask->target);
    }
}

void sim_asks_crash(struct sim_world *world, struct sim_process *process)
{
    for (int i = 0; i < SIM_ASKS_MAX; i++) {
        struct sim_ask *ask = &world->asks[i];
        if (!ask->is_open || ask->process != process)
            continue;
        if (ask->kind == SIM_ASK_STREAM)
            sim_follow_lost(world, ask);
        let_go(ask);
    }
}

void sim_asks_finish(struct sim_world *world)
{
    for (int i = 0; i < SIM_ASKS_MAX; i++) {
        struct sim_ask *ask = &world->asks[i];
        for (int round = 0; ask->is_open && ask->kind != SIM_ASK_STREAM; round++) {
            SIM_CHECK(SIM_RULE_RESPONSE, round < ROUNDS_MAX, "%s %s is never answered", ask->target, ask->body);
            sim_process_commit(ask->process);
            if (ask->again_at_ms < INT64_MAX)
                sim_clock_to(world, ask->again_at_ms);
            if (round > ROUNDS_MAX / 2) /* it waits by wall time, which was set back */
                sim_clock_to(world, ask->until_ms);
            carry_on(world, ask);
        }
    }
}
