/* courier.c - hooks as actors: processes deliver, hooks refuse by chance, processes die between the two, and people look
 * at what could not be delivered and send it again. */
#include <stdio.h>

#include "common/iso.h"
#include "fail.h"
#include "world.h"

enum { TICKS_UNTIL_DELIVERED_MAX = 4000 };

/* ---- The hook ---------------------------------------------------------------------------------------------------------- */

static const char *reason_name(enum pw_hook_reason reason)
{
    static const char *const names[] = { "", "create", "event", "resume", "retry", "wake" };
    return names[reason];
}

/* What is told is what was recorded. */
static void check_payload(const struct sim_delivery *delivery, const struct sim_instance *instance, const char *payload)
{
    char due_at[PW_ISO_SIZE] = "";
    const struct sim_instance ended = { .outcome = delivery->outcome };
    bool is_end = delivery->event == PAWL_HOOK_FINISHED;
    pawl_scope *scope = pawl_scope_new();
    pawl_value *told = NULL;
    if (delivery->due_at_ms != 0)
        (void)pw_iso_time(delivery->due_at_ms, due_at);
    SIM_CHECK(
        SIM_RULE_ATTEMPTED,
        pawl_value_parse(scope, payload, strlen(payload), &told, NULL) == PAWL_OK &&
            sim_shows_text(told, "workflowName", instance->workflow) &&
            sim_shows_text(told, "instanceId", instance->id) && pawl_value_int(told, "runNumber", 0) == delivery->run &&
            sim_shows_text(told, "reason", reason_name(delivery->reason)) && sim_shows_text(told, "dueAt", due_at) &&
            sim_shows_text(told, "status", is_end ? pawl_instance_status_name(sim_status_of(&ended)) : "") &&
            sim_shows_text(told, "error.name", delivery->error_name) &&
            sim_shows_text(told, "error.message", delivery->error_message),
        "%s of %s is told as %s", delivery->id, instance->id, payload);
    pawl_scope_free(scope);
}

/* Its process was not stopped for long after the claim, and wall time has not jumped past the end of the lease. */
static void check_lease(const struct sim_world *world, const struct sim_errand *errand,
                        const struct sim_delivery *delivery)
{
    int64_t left_ms = errand->leased_until_ms - world->model.monotonic_ms;
    SIM_CHECK(SIM_RULE_ATTEMPTED,
              world->now_ms < errand->locked_until_ms && left_ms >= sim_hooks[delivery->hook].lease_ms / 3,
              "the lease of %s has %lld ms left, and ends at %lld", delivery->id, (long long)left_ms,
              (long long)errand->locked_until_ms);
}

/* Is another process to deliver it?  That can be if somebody sent it again after the claim, or if wall time jumped ahead, and was
 * set back once another process had claimed it. */
static bool is_lost(const struct sim_world *world, const struct sim_errand *errand, const struct sim_delivery *delivery)
{
    bool is_held = delivery->exists && delivery->epoch == errand->epoch;
    SIM_CHECK(SIM_RULE_ATTEMPTED, is_held || delivery->resent > 0 || world->model.was_set_back,
              "%s was taken from a process that still calls its hook", delivery->id);
    return !is_held;
}

static void check_attempt(struct sim_world *world, const struct sim_delivery *delivery,
                          const struct pawl_delivery *told)
{
    const struct sim_hook *hook = &sim_hooks[delivery->hook];
    const struct sim_instance *instance = sim_model_by_key(&world->model, delivery->instance);
    SIM_CHECK(SIM_RULE_ATTEMPTED, delivery->exists && delivery->locked_until_ms != 0, "%s is not claimed", told->id);
    SIM_CHECK(SIM_RULE_ATTEMPTED,
              told->attempt == delivery->attempts && told->attempt <= hook->attempts_max &&
                  told->attempts_max == hook->attempts_max,
              "%s: attempt %lld of %lld, recorded are %lld", told->id, (long long)told->attempt,
              (long long)told->attempts_max, (long long)delivery->attempts);
    SIM_CHECK(SIM_RULE_ATTEMPTED,
              strcmp(told->hook, hook->name) == 0 && told->event == delivery->event &&
                  strcmp(told->workflow, instance->workflow) == 0 && strcmp(told->instance_id, instance->id) == 0 &&
                  told->run_number == delivery->run && told->created_at_ms == delivery->created_at_ms,
              "%s is told as something else", told->id);
    check_payload(delivery, instance, told->payload_json);
}

static pawl_status deliver(const struct pawl_delivery *told, void *user, struct pawl_error *error)
{
    struct sim_process *process = user;
    struct sim_world *world = process->ports[1]->world;
    struct sim_delivery *delivery = sim_delivery_of(&world->model, told->id);
    if (process->is_dead) /* its code does not run any more */
        return PAWL_FAILED;
    SIM_CHECK(SIM_RULE_RECORDED, delivery != NULL, "%s was never recorded", told->id);
    check_lease(world, &process->errand, delivery);
    if (is_lost(world, &process->errand, delivery))
        return PAWL_OK; /* which counts for nothing */
    check_attempt(world, delivery, told);
    int64_t epoch = delivery->epoch;
    world->counts->attempts++;
    sim_interlude(world);
    if (!world->is_calm && sim_happens(&world->chance, world->mood.hook_crashes))
        sim_process_crash(world, process);
    enum sim_saying saying = sim_happens(&world->chance, world->mood.hook_refuses) ? SIM_SAYING_NEVER
                             : sim_happens(&world->chance, world->mood.hook_fails) ? SIM_SAYING_NOT_NOW
                                                                                   : SIM_SAYING_YES;
    sim_trace("%lld process %d: hook %s, %s of %s, attempt %lld: %s", (long long)world->now_ms,
              (int)(process - world->processes), told->hook, pawl_hook_event_name(told->event), told->instance_id,
              (long long)told->attempt,
              saying == SIM_SAYING_YES     ? "ok"
              : saying == SIM_SAYING_NEVER ? "refused"
                                           : "failed");
    delivery->saying = saying;
    delivery->said_epoch = epoch;
    delivery->said_at_ms = world->now_ms;
    delivery->was_told |= saying == SIM_SAYING_YES;
    if (saying != SIM_SAYING_YES)
        (void)snprintf(error->text, sizeof error->text, "not now");
    return saying == SIM_SAYING_YES ? PAWL_OK : saying == SIM_SAYING_NEVER ? PAWL_NON_RETRYABLE : PAWL_FAILED;
}

void sim_courier_register(pawl_engine *engine, struct sim_process *process, int position)
{
    process->hooks = 0;
    for (int i = 0; i < SIM_HOOKS_MAX; i++) {
        struct pawl_hook hook = PAWL_HOOK_INIT;
        bool delivers = position != 1 || i != 0; /* the second process leaves the first hook to the others */
        hook.name = sim_hooks[i].name;
        hook.events = sim_hooks[i].events;
        hook.deliver = delivers ? deliver : NULL;
        hook.user = process;
        hook.attempts_max = sim_hooks[i].attempts_max;
        hook.delay_ms = sim_hooks[i].delay_ms;
        hook.lease_ms = sim_hooks[i].lease_ms;
        if (pawl_hook_register(engine, &hook, NULL) != PAWL_OK)
            sim_give_up("no hook %s", hook.name);
        process->hooks |= delivers ? 1u << i : 0;
    }
}

void sim_courier_claimed(struct sim_process *process, const struct pw_unit *unit)
{
    struct sim_model *model = &process->world->model;
    for (const struct pw_op *op = unit->first; op != NULL; op = op->next) {
        if (op->kind != PW_OP_HOOK_CLAIM || op->as.hook_claim.row_count == 0)
            continue;
        const struct pw_hook_row *row = &op->as.hook_claim.rows[0];
        int64_t lease_ms = sim_hooks[sim_delivery_of(model, row->id.data)->hook].lease_ms;
        process->errand = (struct sim_errand){ row->epoch, row->locked_until_ms, model->monotonic_ms + lease_ms };
    }
}

/* ---- Delivering -------------------------------------------------------------------------------------------------------- */

static void tick(struct sim_world *world, struct sim_process *process, int64_t max)
{
    struct pawl_error error = { PAWL_OK, "" };
    enum sim_context context = world->context;
    uint64_t faults = world->faults, actions = world->counts->actions;
    int64_t delivered = 0, next_ms = 0;
    world->context = SIM_CONTEXT_RUNNER;
    process->on_stack++;
    sim_trace("%lld process %d delivers", (long long)world->now_ms, (int)(process - world->processes));
    sim_trace_enter();
    pawl_status status = pawl_hooks_tick(process->engine, max, &delivered, &next_ms, &error);
    sim_trace_leave();
    world->context = context;
    world->counts->deliveries += (uint64_t)delivered;
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK || world->faults > faults, "delivering fails: %s: %s",
              pawl_status_name(status), error.text);
    int64_t expected_ms = sim_model_next_delivery(&world->model, process->hooks);
    SIM_CHECK(SIM_RULE_DELIVERED, status != PAWL_OK || world->counts->actions != actions || next_ms == expected_ms,
              "the next delivery is due at %lld, not at %lld", (long long)expected_ms, (long long)next_ms);
    sim_process_left(world, process);
}

/* ---- Looking, and sending again ---------------------------------------------------------------------------------------- */

static void look(struct sim_world *world, struct sim_process *process)
{
    const struct sim_model *model = &world->model;
    pawl_scope *scope = pawl_scope_new();
    const pawl_value *shown;
    size_t count = 0;
    pawl_status status = sim_ask_now(world, process, scope, "GET", "/api/hooks/deliveries?pageSize=100", &shown);
    for (int i = 0; i < model->delivery_count && status == PAWL_OK && count < 100; i++) {
        const struct sim_delivery *delivery = &model->deliveries[i];
        const pawl_value *item = pawl_value_item(pawl_value_at(shown, "deliveries"), count);
        if (!delivery->exists)
            continue;
        SIM_CHECK(SIM_RULE_LOOK,
                  sim_shows_text(item, "id", delivery->id) &&
                      sim_shows_text(item, "status", delivery->next_at_ms != 0 ? "pending" : "failed") &&
                      pawl_value_int(item, "attempts", -1) == delivery->attempts,
                  "delivery %s is listed otherwise", delivery->id);
        count++;
    }
    SIM_CHECK(SIM_RULE_LOOK, status != PAWL_OK || pawl_value_size(shown, "deliveries") == count,
              "%zu deliveries are listed, not %zu", pawl_value_size(shown, "deliveries"), count);
    pawl_scope_free(scope);
}

static void send_again(struct sim_world *world)
{
    struct sim_deed deed = { .kind = SIM_DEED_RESEND };
    if (world->model.delivery_count == 0)
        return;
    deed.delivery = &world->model.deliveries[sim_below(&world->chance, world->model.delivery_count)];
    memcpy(deed.id, deed.delivery->id, sizeof deed.id);
    sim_client_perform(world, &deed);
}

/* ---- As actors --------------------------------------------------------------------------------------------------------- */

void sim_courier_act(struct sim_world *world)
{
    struct sim_process *process = sim_process_choose(world);
    int drawn = sim_below(&world->chance, 16);
    if (process == NULL)
        return;
    if (drawn == 0)
        look(world, process);
    else if (drawn == 1)
        send_again(world);
    else
        tick(world, process, 1 + sim_below(&world->chance, 3));
}

void sim_courier_finish(struct sim_world *world)
{
    for (int ticks = 0;; ticks++) {
        struct sim_process *process = &world->processes[ticks % world->process_count];
        int64_t next_ms = sim_model_next_delivery(&world->model, ~0u);
        if (next_ms == INT64_MAX)
            break;
        SIM_CHECK(SIM_RULE_DELIVERED, ticks < TICKS_UNTIL_DELIVERED_MAX, "after %d ticks a delivery is still due",
                  ticks);
        sim_clock_to(world, next_ms);
        tick(world, process, 0);
    }
    sim_check_deliveries(&world->model);
    for (int i = 0; i < world->model.delivery_count; i++)
        world->counts->undelivered += world->model.deliveries[i].exists;
}
