/* port.c - a process's view of the store: the real one, with trouble by chance.  What was really applied is told to the
 * model before the process learns of it, or learns something else. */
#include <stdio.h>

#include "fail.h"
#include "world.h"

/* ---- Trouble --------------------------------------------------------------------------------------------------------- */

enum trouble { NO_TROUBLE, FAIL_BEFORE, FAIL_AFTER };

/* So many times as often as elsewhere. */
enum { PAUSING_TIMES = 12, NEW_EVENTS_TIMES = 8 };

static pawl_status unavailable(struct sim_world *world, struct pawl_error *error, const char *text)
{
    world->faults++;
    world->counts->errors++;
    if (error != NULL) {
        error->status = PAWL_STORE_UNAVAILABLE;
        (void)snprintf(error->text, sizeof error->text, "%s", text);
    }
    return PAWL_STORE_UNAVAILABLE;
}

/* Is it for a run that is asked to pause?  There trouble is more likely: it is where two ways of stopping meet. */
static bool concerns_pausing(struct sim_world *world, struct pw_unit **units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pw_op *first = units[i]->first;
        const struct sim_instance *instance =
            first->kind == PW_OP_FENCE ? sim_model_by_key(&world->model, first->as.fence.at.instance) : NULL;
        if (instance != NULL && sim_is_pausing(instance))
            return true;
    }
    return false;
}

static enum trouble draw_trouble(struct sim_world *world, struct sim_process *process, bool is_pausing)
{
    const struct sim_mood *mood = &world->mood;
    if (process->is_dead)
        return FAIL_BEFORE;
    if (world->is_calm)
        return NO_TROUBLE;
    int drawn = sim_below(&world->chance, 1000);
    if ((drawn -= mood->fail_before * (is_pausing ? PAUSING_TIMES : 1)) < 0)
        return FAIL_BEFORE;
    if ((drawn -= mood->fail_after) < 0)
        return FAIL_AFTER;
    if ((drawn -= mood->crash_before) < 0) {
        sim_process_crash(world, process);
        return FAIL_BEFORE;
    }
    if ((drawn -= mood->crash_after) < 0) {
        sim_process_crash(world, process);
        return FAIL_AFTER;
    }
    return NO_TROUBLE;
}

static bool read_fails(const struct sim_port *port, int times)
{
    struct sim_world *world = port->world;
    return world->processes[port->process].is_dead ||
           (!world->is_calm && sim_happens(&world->chance, world->mood.fail_read * times));
}

/* ---- Answers ------------------------------------------------------------------------------------------------------------ */

/* The committer gives answers out; whatever they lead to, others must not come in between and wait for it. */
static void answer(struct pw_unit *unit, void *user)
{
    struct sim_answer *answer = user;
    struct sim_world *world = answer->world;
    unit->done = answer->done;
    unit->user = answer->user;
    answer->done = NULL;
    world->answering++;
    unit->done(unit, unit->user);
    world->answering--;
}

/* Of calls that do not wait: a turn's units have a chain, and answers that call nobody. */
static void watch_answers(struct sim_world *world, struct pw_unit **units, size_t count)
{
    int free_one = 0;
    for (size_t i = 0; i < count; i++) {
        if (units[i]->done == NULL || units[i]->chain != NULL || units[i]->done == answer)
            continue;
        while (free_one < SIM_ANSWERS_MAX && world->answers[free_one].done != NULL)
            free_one++;
        if (free_one == SIM_ANSWERS_MAX)
            sim_give_up("%d answers", free_one);
        world->answers[free_one] = (struct sim_answer){ world, units[i]->done, units[i]->user };
        units[i]->done = answer;
        units[i]->user = &world->answers[free_one];
    }
}

/* ---- Telling ----------------------------------------------------------------------------------------------------------- */

static int describe_op(const struct pw_op *op, char *text, size_t room)
{
    switch (op->kind) {
    case PW_OP_FENCE:
        return snprintf(text, room, "fence(%lld,%lld,%lld)%s%s ", (long long)op->as.fence.at.instance,
                        (long long)op->as.fence.at.run, (long long)op->as.fence.at.epoch,
                        op->as.fence.unless_pause ? "unless pause" : "",
                        op->as.fence.unless_new_events ? "unless events" : "");
    case PW_OP_STEP:
        return snprintf(text, room, "step %.*s %s ", (int)op->as.step.row.name.size, op->as.step.row.name.data,
                        pawl_step_status_name(op->as.step.row.status));
    case PW_OP_PARK:
        return snprintf(text, room, "park(%lld) %d at %lld ", (long long)op->as.park.instance, (int)op->as.park.status,
                        (long long)op->as.park.due_at_ms_set);
    case PW_OP_CLAIM:
        return snprintf(text, room, "claim %zu of %zu, epoch %lld ", op->as.claim.claim_count, op->as.claim.max,
                        op->as.claim.claim_count > 0 ? (long long)op->as.claim.claims[0].fence.epoch : 0);
    case PW_OP_CREATE:
        return snprintf(text, room, "create %.*s ", (int)op->as.create.id.size, op->as.create.id.data);
    case PW_OP_EVENT:
        return snprintf(text, room, "event(%lld) %.*s ", (long long)op->as.event.told.instance,
                        (int)op->as.event.type.size, op->as.event.type.data);
    case PW_OP_LOG:
        return snprintf(text, room, "log%s \"%.*s\" ", op->as.log.row.is_replay ? " again" : "",
                        (int)(op->as.log.row.message.size < 20 ? op->as.log.row.message.size : 20),
                        op->as.log.row.message.data);
    case PW_OP_CONSUME:
        return snprintf(text, room, "consume %lld ", (long long)op->as.consume.seq);
    default: {
        static const char *const names[] = {
            [PW_OP_RESTART] = "restart", [PW_OP_HOLD] = "hold",  [PW_OP_CONTROL] = "control", [PW_OP_DEMAND] = "demand",
            [PW_OP_FINISH] = "finish",   [PW_OP_END] = "end",    [PW_OP_RENEW] = "renew",     [PW_OP_REAP] = "reap",
            [PW_OP_SQL] = "sql",         [PW_OP_MUTATE] = "call"
        };
        bool is_named = (size_t)op->kind < sizeof names / sizeof names[0] && names[op->kind] != NULL;
        return snprintf(text, room, "%s ", is_named ? names[op->kind] : "hook");
    }
    }
}

static void trace_unit(const struct sim_port *port, const struct pw_unit *unit, const char *trouble)
{
    char text[300] = "";
    int size = 0;
    for (const struct pw_op *op = unit->first; op != NULL && size < 250; op = op->next)
        size += describe_op(op, text + size, sizeof text - (size_t)size);
    sim_trace("%lld process %d commits %s-> %s%s", (long long)port->world->now_ms, port->process, text,
              pawl_status_name(unit->status), trouble);
}

static void tell_model(struct sim_port *port, struct pw_unit **units, size_t count, int64_t now_ms)
{
    struct sim_world *world = port->world;
    const struct sim_process *process = &world->processes[port->process];
    int64_t owners[SIM_RUNNERS_MAX];
    for (int i = 0; i < process->runner_count; i++)
        owners[i] = process->runners[i].owner;
    for (size_t i = 0; i < count; i++) {
        sim_model_unit(&world->model, units[i], now_ms, owners, process->runner_count);
        sim_courier_claimed(&world->processes[port->process], units[i]);
        world->applied++;
        world->applied_of_turns += units[i]->chain != NULL;
        world->counts->units++;
        if (units[i]->status != PAWL_OK)
            world->counts->refused++;
        if (units[i]->status == PAWL_CONFLICT && units[i]->chain != NULL)
            world->counts->lost++;
    }
    world->counts->commits++;
}

static pawl_status port_apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct sim_port *port = (struct sim_port *)store;
    struct sim_world *world = port->world;
    struct sim_process *process = &world->processes[port->process];
    if (world->context == SIM_CONTEXT_RUNNER)
        sim_process_stop(world, process);
    int64_t now_ms = store->ops->now_ms(store); /* once: it may move on whenever it is asked */
    enum trouble trouble = draw_trouble(world, process, concerns_pausing(world, units, count));
    watch_answers(world, units, count);
    if (trouble == FAIL_BEFORE) {
        for (size_t i = 0; i < count; i++)
            trace_unit(port, units[i], ", which never reached the store");
        return unavailable(world, error, "it went wrong before the commit");
    }
    world->commit_ms = now_ms;
    pawl_status status = sim_plant_apply(&world->plant, world->base, units, count, error);
    world->commit_ms = 0;
    for (size_t i = 0; i < count; i++)
        trace_unit(port, units[i], trouble == FAIL_AFTER ? ", which is not known" : "");
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK, "the store refuses a commit: %s: %s", pawl_status_name(status),
              error->text);
    tell_model(port, units, count, now_ms);
    if (world->context == SIM_CONTEXT_RUNNER)
        sim_process_stop(world, process);
    sim_plant_claimed(&world->plant, units, count, world->model.monotonic_ms);
    if (trouble == NO_TROUBLE) {
        sim_asks_news(world, &world->processes[port->process], units, count);
        return PAWL_OK;
    }
    world->counts->ambiguous++;
    return unavailable(world, error, "it went wrong after the commit");
}

/* ---- Reading ----------------------------------------------------------------------------------------------------------- */

/* The kinds that may fail.  The others are read without trouble. */
static int times_as_often(enum pw_read_kind kind)
{
    switch (kind) {
    case PW_READ_INSTANCE:
    case PW_READ_INSTANCE_BY_KEY:
    case PW_READ_INSTANCES:
    case PW_READ_CURRENT:
    case PW_READ_LIST:
    case PW_READ_EARLIER_RUNS:
    case PW_READ_STEPS:
    case PW_READ_LOGS:
    case PW_READ_EVENT:
    case PW_READ_WAITING_STEPS:
    case PW_READ_WAITING_COUNT:
    case PW_READ_NEXT_HOOK:
    case PW_READ_RUNNERS:
        return 1;
    case PW_READ_NEW_EVENTS:
        return NEW_EVENTS_TIMES;
    case PW_READ_EVENTS:
    case PW_READ_RUN:
    case PW_READ_NEXT_DUE:
    case PW_READ_TASK_COUNTS:
    case PW_READ_STATUS_COUNTS:
    case PW_READ_HOOKS:
    case PW_READ_PART:
    case PW_READ_SCHEMA:
    case PW_READ_KIND_COUNT:
        break;
    }
    return 0;
}

static void spoil_steps(struct sim_port *port, const struct pw_history_query *query, struct pw_found *found)
{
    bool is_turn = query->max == SIZE_MAX; /* which a process may load while it stops */
    if (port->world->context == SIM_CONTEXT_RUNNER)
        sim_plant_steps(&port->world->plant, found->steps, &found->count);
    if (port->world->context == SIM_CONTEXT_CLIENT && !is_turn)
        sim_plant_client_steps(&port->world->plant, found->steps, found->count);
}

/* What a planted violation does to an answer. */
static pawl_status spoil(struct sim_port *port, const struct pw_read *asked, struct pw_found *found)
{
    struct sim_world *world = port->world;
    if (asked->kind == PW_READ_CURRENT && found->count > 0)
        return sim_plant_instance(&world->plant, world->context == SIM_CONTEXT_RESULT, &found->current->instance);
    if (asked->kind == PW_READ_STEPS)
        spoil_steps(port, &asked->history, found);
    if (asked->kind == PW_READ_NEW_EVENTS)
        sim_plant_events(&world->plant, found->events, found->count);
    if (asked->kind == PW_READ_LOGS)
        sim_plant_logs(&world->plant, found->logs, &found->count);
    if (asked->kind == PW_READ_NEXT_HOOK && world->plant.kind == SIM_PLANT_NEVER_DUE)
        found->at_ms = INT64_MAX;
    return PAWL_OK;
}

/* Between looking and changing, or telling; a stream's rows are read behind its instance. */
static bool has_interlude(const struct sim_world *world, enum pw_read_kind kind)
{
    return ((kind == PW_READ_INSTANCE || kind == PW_READ_CURRENT) && world->context >= SIM_CONTEXT_CLIENT) ||
           (kind == PW_READ_INSTANCE_BY_KEY && world->context == SIM_CONTEXT_STREAM);
}

static pawl_status port_read(struct pw_store *store, const struct pw_read *asked, struct pw_arena *arena,
                             struct pw_found *out_found, struct pawl_error *error)
{
    struct sim_port *port = (struct sim_port *)store;
    struct sim_world *world = port->world;
    int times = times_as_often(asked->kind);
    if (times > 0 && read_fails(port, times))
        return unavailable(world, error, "it cannot be read now");
    pawl_status status = world->base->ops->read(world->base, asked, arena, out_found, error);
    if (asked->kind == PW_READ_STEPS && world->context == SIM_CONTEXT_RUNNER)
        sim_process_stop(world, &world->processes[port->process]);
    if (status == PAWL_OK)
        status = spoil(port, asked, out_found);
    if (has_interlude(world, asked->kind))
        sim_interlude(world);
    return status;
}

/* The real store is the world's, not an engine's. */
static void port_close(struct pw_store *store)
{
    (void)store;
}

struct pw_store *sim_port_wrap(struct pw_store *unwanted, void *user)
{
    struct sim_port *port = user;
    unwanted->ops->close(unwanted);
    pw_forward_init(&port->forward, port->world->base);
    port->forward.ops.close = port_close;
    port->forward.ops.apply = port_apply;
    port->forward.ops.read = port_read;
    return &port->forward.store;
}
