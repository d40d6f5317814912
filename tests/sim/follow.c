/* follow.c - clients that follow an instance as a stream of events (invariant 36): connected anywhere, cut off anywhere,
 * and back again with the id of the last event that they heard. */
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "world.h"

enum { CUT_OFF_ONE_IN = 3, ROUNDS_MAX = 400 };

#define CHECK(holds, ...) SIM_CHECK(SIM_RULE_STREAM, holds, __VA_ARGS__)

/* ---- What was told of a run -------------------------------------------------------------------------------------------- */

/* Nothing of the run is left out.  A run that was restarted got one more line by that, which may not have been there. */
static void check_complete(const struct sim_follower *follower, bool is_restarted)
{
    const struct sim_instance *instance = follower->instance;
    const struct sim_run *run = &instance->runs[follower->run - 1];
    bool may_lack_one = !is_restarted && instance->run > follower->run;
    CHECK(follower->lines == run->log_count || (may_lack_one && follower->lines == run->log_count - 1),
          "%s, run %lld: %lld of %d lines were told", instance->id, (long long)follower->run,
          (long long)follower->lines, run->log_count);
    for (int node = 0; node < SIM_STEPS_MAX; node++) {
        const struct sim_step *step = &run->steps[node];
        const struct sim_told_step *told = &follower->steps[node];
        bool is_as_told = told->is_told && told->status == step->status && told->attempts == step->attempts;
        CHECK(!step->exists || is_as_told, "%s, run %lld: n%d is told otherwise", instance->id,
              (long long)follower->run, node);
    }
}

static void check_ended(const struct sim_follower *follower)
{
    const struct sim_instance *instance = follower->instance;
    CHECK(follower->run >= 1 && follower->run <= instance->run, "%s ends in run %lld", instance->id,
          (long long)follower->run);
    const struct sim_instance ended = { .outcome = instance->runs[follower->run - 1].outcome };
    CHECK(ended.outcome != PW_OUTCOME_OPEN && follower->has_status && follower->status == sim_status_of(&ended),
          "%s, run %lld: the stream ends with %s", instance->id, (long long)follower->run,
          follower->has_status ? pawl_instance_status_name(follower->status) : "no status");
    check_complete(follower, false);
}

/* What is told is of this run: the same, or the next one once the old was told. */
static void turn_to(struct sim_follower *follower, int64_t run)
{
    const struct sim_instance *instance = follower->instance;
    CHECK(run >= follower->first_run && run <= instance->run && run >= follower->run, "%s: run %lld after %lld",
          instance->id, (long long)run, (long long)follower->run);
    if (run == follower->run)
        return;
    if (follower->run != 0) {
        CHECK(run == follower->run + 1, "%s: run %lld after %lld", instance->id, (long long)run,
              (long long)follower->run);
        check_complete(follower, true);
    }
    follower->run = run;
    follower->lines = 0;
    follower->has_status = follower->has_ended = false;
    memset(follower->steps, 0, sizeof follower->steps);
}

/* ---- Events ------------------------------------------------------------------------------------------------------------ */

static struct pw_text text_at(const pawl_value *value, const char *path)
{
    return pw_text_of(pawl_value_string(value, path, NULL));
}

static enum pawl_log_level level_at(const pawl_value *value)
{
    enum pawl_log_level level = PAWL_LOG_DEBUG;
    while (level < PAWL_LOG_ERROR && strcmp(pawl_log_level_name(level), pawl_value_string(value, "level", "")) != 0)
        level++;
    return level;
}

static void hear_log(struct sim_follower *follower, pawl_scope *scope, const pawl_value *data)
{
    const char *number = pawl_value_string(data, "id", "");
    turn_to(follower, pawl_value_int(data, "runNumber", 0));
    const struct sim_run *run = &follower->instance->runs[follower->run - 1];
    CHECK(strtoll(number, NULL, 10) == follower->lines + 1 && follower->lines < run->log_count,
          "%s, run %lld: line %s after %lld", follower->instance->id, (long long)follower->run, number,
          (long long)follower->lines);
    struct pw_log_row row = { .step = text_at(data, "stepKey"),
                              .attempt = pawl_value_int(data, "attempt", 0),
                              .level = level_at(data),
                              .category = text_at(data, "category"),
                              .message = text_at(data, "message"),
                              .is_replay = pawl_value_bool(data, "isReplay", false) };
    if (pawl_value_kind(data, "data") != PAWL_KIND_NULL &&
        pawl_value_text(scope, pawl_value_at(data, "data"), &row.data.data, &row.data.size) != PAWL_OK)
        sim_give_up("no memory");
    CHECK(sim_digest_log(&row) == run->logs[follower->lines], "%s, run %lld: line %s is another one",
          follower->instance->id, (long long)follower->run, number);
    follower->lines++;
}

static enum pawl_step_status step_status_at(const pawl_value *value)
{
    enum pawl_step_status status = PAWL_STEP_WAITING;
    while (status < PAWL_STEP_ERRORED &&
           strcmp(pawl_step_status_name(status), pawl_value_string(value, "status", "")) != 0)
        status++;
    return status;
}

/* Each time it has changed, and no more often. */
static void hear_step(struct sim_follower *follower, const pawl_value *data)
{
    const char *name = pawl_value_string(data, "stepKey", "");
    int node = sim_node_of(pw_text_of(name));
    turn_to(follower, pawl_value_int(data, "runNumber", 0));
    CHECK(node != SIM_NONE && follower->instance->runs[follower->run - 1].steps[node].exists, "a step %s", name);
    struct sim_told_step now = { true, step_status_at(data), pawl_value_int(data, "attempts", -1) };
    struct sim_told_step *told = &follower->steps[node];
    bool is_repaired = false; /* then all are told again */
    for (int i = 0; i < SIM_STEPS_MAX; i++)
        is_repaired |= follower->instance->runs[follower->run - 1].steps[i].goes > 0;
    CHECK(!told->is_told || is_repaired ||
              (told->status == PAWL_STEP_WAITING && (now.status != PAWL_STEP_WAITING || now.attempts > told->attempts)),
          "%s of %s is told again, and has not changed", name, follower->instance->id);
    *told = now;
}

static void hear_status(struct sim_follower *follower, const pawl_value *data)
{
    turn_to(follower, pawl_value_int(data, "runNumber", 0));
    pawl_status status =
        pawl_instance_status_parse(pawl_value_string(data, "details.status", ""), &follower->status, NULL);
    CHECK(status == PAWL_OK, "%s has a status that is none", follower->instance->id);
    follower->has_status = true;
}

static void hear(struct sim_world *world, struct sim_follower *follower, struct pw_text mark, struct pw_text event,
                 struct pw_text data)
{
    pawl_scope *scope = pawl_scope_new();
    pawl_value *value = NULL;
    CHECK(pawl_value_parse(scope, data.data, data.size, &value, NULL) == PAWL_OK, "an event's data: %.*s",
          (int)data.size, data.data);
    world->counts->told++;
    if (pw_text_equal(event, pw_text_of("log")))
        hear_log(follower, scope, value);
    else if (pw_text_equal(event, pw_text_of("step")))
        hear_step(follower, value);
    else if (pw_text_equal(event, pw_text_of("status")))
        hear_status(follower, value);
    else
        CHECK(pw_text_equal(event, pw_text_of("end")), "an event named %.*s", (int)event.size, event.data);
    pawl_scope_free(scope);
    follower->has_ended = pw_text_equal(event, pw_text_of("end"));
    if (follower->has_ended) {
        check_ended(follower);
        return;
    }
    CHECK(mark.size > 0 && mark.size < SIM_MARK_MAX, "an event without an id");
    memcpy(follower->mark, mark.data, mark.size);
    follower->mark[mark.size] = '\0';
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------------- */

/* "id: 1.2": the value of the field, if it is the line's. */
static bool field(struct pw_text line, const char *name, struct pw_text *out_value)
{
    size_t size = strlen(name);
    if (line.size < size || memcmp(line.data, name, size) != 0)
        return false;
    *out_value = (struct pw_text){ line.data + size, line.size - size };
    return true;
}

/* As many events as are wanted, from whole blocks that end with an empty line. */
static void hear_bytes(struct sim_world *world, struct sim_follower *follower, const char *bytes, size_t size,
                       int wanted)
{
    struct pw_text mark = { NULL, 0 }, event = { NULL, 0 }, data = { NULL, 0 };
    CHECK(size >= 2 && memcmp(bytes + size - 2, "\n\n", 2) == 0, "the bytes end within an event");
    for (const char *at = bytes, *end = bytes + size; at < end && wanted > 0;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        struct pw_text line = { at, (size_t)(newline - at) }, ignored;
        at = newline + 1;
        if (field(line, "id: ", &mark) || field(line, "event: ", &event) || field(line, "data: ", &data))
            continue;
        CHECK(line.size == 0 || field(line, "retry: ", &ignored) || field(line, ":", &ignored), "a line \"%.*s\"",
              (int)line.size, line.data);
        if (line.size == 0 && event.size > 0) {
            hear(world, follower, mark, event, data);
            mark = event = data = (struct pw_text){ NULL, 0 };
            wanted--;
        }
    }
}

/* ---- Connections ------------------------------------------------------------------------------------------------------- */

static void disconnect(struct sim_follower *follower)
{
    sim_ask_free(follower->ask);
    follower->ask = NULL;
}

void sim_follow_lost(struct sim_world *world, const struct sim_ask *ask)
{
    for (int i = 0; i < SIM_FOLLOWERS_MAX; i++) {
        if (world->followers[i].ask == ask)
            world->followers[i].ask = NULL;
    }
}

/* The stream's head; or that there is nothing more to come, to one that has heard something. */
static void check_head(struct sim_world *world, struct sim_follower *follower,
                       const struct pawl_http_response *response)
{
    const pawl_value *body;
    if (response->status == 200 && response->is_stream)
        return;
    if (response->status == 204) {
        CHECK(follower->mark[0] != '\0', "%s: no stream", follower->instance->id);
        check_ended(follower);
        follower->has_ended = true;
    } else {
        pawl_scope *scope = pawl_scope_new();
        pawl_status status = sim_response_status(world, follower->ask, scope, response, &body);
        CHECK(status == PAWL_STORE_UNAVAILABLE, "%s: %d", follower->ask->target, response->status);
        pawl_scope_free(scope);
    }
    disconnect(follower);
}

static void connect(struct sim_world *world, struct sim_follower *follower, struct sim_process *process)
{
    const struct pawl_http_response *response;
    struct sim_ask *ask = sim_ask_new(world, process, SIM_ASK_STREAM);
    if (ask == NULL)
        return;
    (void)snprintf(ask->target, sizeof ask->target, "/api/workflows/%s/instances/%s/stream",
                   follower->instance->workflow, follower->instance->id);
    ask->instance = follower->instance;
    if (follower->mark[0] != '\0' && world->plant.kind != SIM_PLANT_FORGOTTEN_MARK) {
        memcpy(ask->mark, follower->mark, sizeof ask->mark);
        ask->header = (struct pawl_http_header){ "Last-Event-ID", ask->mark };
        ask->request.header_count = 1;
    }
    if (follower->run == 0)
        follower->first_run = follower->instance->run;
    if (!sim_ask_take_up(ask))
        return;
    follower->ask = ask;
    world->counts->reconnects += follower->mark[0] != '\0';
    process->on_stack++;
    if (sim_ask_go(world, ask, &response))
        check_head(world, follower, response);
    else
        CHECK(process->is_dead, "%s: the head is not there yet", ask->target);
    sim_process_left(world, process);
}

/* Nothing new, says a stream that looked: then all is told. */
static void check_silence(const struct sim_follower *follower)
{
    const struct sim_instance *instance = follower->instance;
    CHECK(follower->run == instance->run && follower->lines == instance->runs[instance->run - 1].log_count,
          "%s: line %lld of run %lld is not told", instance->id, (long long)follower->lines + 1,
          (long long)follower->run);
}

static enum pawl_http_read read_some(struct sim_world *world, struct sim_follower *follower, int wanted)
{
    struct sim_ask *ask = follower->ask;
    enum sim_context context = world->context;
    uint64_t actions = world->counts->actions, faults = world->faults;
    const char *bytes = NULL;
    size_t size = 0;
    int64_t again_at_ms = 0;
    bool looks = ask->is_ready || (ask->again_at_ms != 0 && world->now_ms >= ask->again_at_ms);
    CHECK(!ask->is_news || ask->is_ready, "%s: what is committed is not told", ask->target);
    ask->is_ready = ask->is_news = false;
    world->context = SIM_CONTEXT_STREAM;
    ask->is_busy = true;
    enum pawl_http_read how = pawl_http_call_read(ask->call, &bytes, &size, &again_at_ms);
    ask->is_busy = false;
    world->context = context;
    if (ask->process->is_dead)
        return PAWL_HTTP_READ_END;
    sim_trace("%lld %s: %s %.*s", (long long)world->now_ms, ask->target,
              how == PAWL_HTTP_READ_BYTES ? "bytes"
              : how == PAWL_HTTP_READ_END ? "end"
                                          : "nothing yet",
              (int)size, size > 0 ? bytes : "");
    ask->again_at_ms = how == PAWL_HTTP_READ_NOT_YET ? again_at_ms : 0;
    if (how == PAWL_HTTP_READ_BYTES)
        hear_bytes(world, follower, bytes, size, wanted);
    else if (how == PAWL_HTTP_READ_END)
        CHECK(follower->has_ended || ask->process->is_draining, "%s ends, and does not say so", ask->target);
    else if (looks && world->counts->actions == actions && world->faults == faults)
        check_silence(follower);
    return how;
}

static void go_on(struct sim_world *world, struct sim_follower *follower)
{
    struct sim_process *process = follower->ask->process;
    bool is_cut_off = !world->is_calm && sim_below(&world->chance, CUT_OFF_ONE_IN) == 0;
    process->on_stack++;
    enum pawl_http_read how = read_some(world, follower, is_cut_off ? sim_below(&world->chance, 4) : INT32_MAX);
    if (!process->is_dead && (is_cut_off || how == PAWL_HTTP_READ_END))
        disconnect(follower);
    sim_process_left(world, process);
}

/* ---- As actors --------------------------------------------------------------------------------------------------------- */

void sim_follow_begin(struct sim_world *world, struct sim_instance *instance)
{
    for (int i = 0; i < SIM_FOLLOWERS_MAX; i++) {
        if (world->followers[i].instance != NULL)
            continue;
        world->followers[i] = (struct sim_follower){ .instance = instance };
        return;
    }
}

void sim_follow_act(struct sim_world *world)
{
    struct sim_follower *follower = &world->followers[sim_below(&world->chance, SIM_FOLLOWERS_MAX)];
    if (follower->instance == NULL)
        follower = world->followers; /* the first that there was */
    if (follower->instance == NULL || (follower->ask != NULL && follower->ask->is_busy))
        return;
    if (follower->ask == NULL) {
        struct sim_process *process = sim_process_choose(world);
        if (process != NULL)
            connect(world, follower, process);
    } else if (!follower->ask->process->is_dead && !follower->ask->process->is_stopped) {
        go_on(world, follower);
    }
}

void sim_follow_drain(struct sim_world *world, struct sim_ask *ask)
{
    struct sim_follower *follower = world->followers;
    while (follower->ask != ask)
        follower++;
    for (int round = 0; round < ROUNDS_MAX && !ask->process->is_dead; round++) {
        if (read_some(world, follower, INT32_MAX) != PAWL_HTTP_READ_END)
            continue;
        if (!ask->process->is_dead)
            disconnect(follower);
        return;
    }
}

/* Of one that has not finished, all that there is. */
static bool has_heard_all(const struct sim_follower *follower)
{
    const struct sim_instance *instance = follower->instance;
    return follower->has_ended || (instance->task.exists && follower->run == instance->run &&
                                   follower->lines == instance->runs[instance->run - 1].log_count);
}

void sim_follow_finish(struct sim_world *world)
{
    for (int i = 0; i < SIM_FOLLOWERS_MAX; i++) {
        struct sim_follower *follower = &world->followers[i];
        if (follower->instance == NULL)
            continue;
        if (follower->ask != NULL && follower->has_ended)
            disconnect(follower);
        follower->has_ended = false; /* whoever has heard the end comes back, and is told so */
        for (int round = 0; !has_heard_all(follower); round++) {
            CHECK(round < ROUNDS_MAX, "the stream of %s does not end", follower->instance->id);
            if (follower->ask == NULL)
                connect(world, follower, &world->processes[round % world->process_count]);
            if (follower->ask != NULL && follower->ask->again_at_ms > 0)
                sim_clock_to(world, follower->ask->again_at_ms);
            if (follower->ask != NULL)
                go_on(world, follower);
        }
        if (follower->ask != NULL)
            disconnect(follower);
    }
}
