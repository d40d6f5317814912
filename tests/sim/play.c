/* play.c - the workflow function of the simulation: it finds its program by its params and carries it out, call by call,
 * through the language-neutral turn (engine.h).  What it is told goes into a digest, which becomes its result. */
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "turn/lanes.h"
#include "world.h"

enum { BRANCHES_MAX = 8, ATTEMPT_THAT_SUCCEEDS = 6 };

/* One pass of one turn. */
struct player {
    struct sim_world *world;
    struct sim_process *process;
    pawl_turn *turn;
    const struct sim_program *program;
    const struct pw_fence *fence;
    bool is_undoing;
    struct {
        int64_t at_ms, order;
    } finished[SIM_NODES_MAX]; /* of those that it was told have completed */
};

/* What a node comes to when the run is to wait for repair: as PAWL_SUSPENDED, but that this is to be said at the end. */
enum { PARKED = PAWL_STOPPED };

/* What one lane was told so far: a bit for each node. */
static pawl_status play_node(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest);

static const struct sim_step *row_of(const struct player *player, int node)
{
    struct sim_instance *instance = sim_model_by_key(&player->world->model, player->fence->instance);
    return &sim_model_run(instance, player->fence->run)->steps[node];
}

static pawl_status refused(const struct player *player, pawl_lane *lane, int node, pawl_status status)
{
    const struct sim_instance *instance = sim_model_by_key(&player->world->model, player->fence->instance);
    bool is_demanded =
        !sim_model_holds(&player->world->model, player->fence) || instance->task.demand != PW_DEMAND_NONE;
    SIM_CHECK(SIM_RULE_DEMAND, status != PAWL_INTERRUPTED || (is_demanded && !player->is_undoing),
              "%s is interrupted at n%d, and nobody wanted that", instance->id, node);
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_SUSPENDED || status == PAWL_INTERRUPTED,
              "n%d of %s is refused: %s: %s", node, player->turn->claim.id.data, pawl_status_name(status),
              pawl_lane_error(lane));
    return status;
}

/* ---- Answers ------------------------------------------------------------------------------------------------------- */

/* Steps whose commit the store may refuse. */
static bool must_be_settled(const struct sim_node *plan, int position, bool done)
{
    if (position >= SIM_NODES_MAX)
        return false;
    if (plan->kind == SIM_WAIT)
        return !done;
    if (plan->kind == SIM_CHILD)
        return done;
    return plan->kind == SIM_DO && (done ? plan->effect != SIM_EFFECT_NONE : plan->effect_on_failure);
}

static pawl_status tell(struct player *player, int node, const struct pawl_answer *answer, uint64_t *told,
                        uint64_t *digest)
{
    bool done = answer->kind == PAWL_ANSWER_DONE;
    const char *text = done ? answer->result_json : answer->error_name;
    if (sim_model_holds(&player->world->model, player->fence)) {
        const struct sim_step *row = row_of(player, node);
        bool is_durable = sim_step_is_finished(row);
        SIM_CHECK(SIM_RULE_SETTLED_FIRST,
                  is_durable || !must_be_settled(&player->program->nodes[sim_node_at(node)], node, done), "n%d of %s",
                  node, player->turn->claim.id.data);
        const char *stored = row->status == PAWL_STEP_COMPLETED ? row->result : row->error_name;
        SIM_CHECK(SIM_RULE_ANSWER,
                  !is_durable ||
                      (done == (row->status == PAWL_STEP_COMPLETED) && strcmp(text != NULL ? text : "", stored) == 0),
                  "n%d of %s was told %s, stored is %s", node, player->turn->claim.id.data,
                  text != NULL ? text : "nothing", stored);
    }
    if (!sim_is_undo(node))
        *told |= UINT64_C(1) << node;
    if (node < SIM_NODES_MAX) {
        player->finished[node].at_ms = done ? answer->finished_at_ms : 0;
        player->finished[node].order = answer->order;
    }
    *digest = sim_digest_told(0, node, done, answer->result_json, answer->error_name);
    return done ? PAWL_OK : PAWL_FAILED;
}

/* What was told of work: a program that suspends on failure waits for repair there, unless it is to stop. */
static pawl_status park_if_failed(const struct player *player, pawl_lane *lane, int node, pawl_status told)
{
    if (told != PAWL_FAILED || !player->program->suspends || player->is_undoing)
        return told;
    pawl_status status = pawl_lane_check(lane);
    return status == PAWL_OK ? (pawl_status)PARKED : refused(player, lane, node, status);
}

/* ---- Bodies -------------------------------------------------------------------------------------------------------- */

static pawl_status insert_tag(void *connection, const void *data, size_t size)
{
    const struct sim_mutation *mutation = data;
    (void)size;
    if (mutation->fails)
        return PAWL_FAILED;
    return mutation->in_memory ? sim_memory_insert(connection, mutation->tag)
                               : sim_sqlite_insert(connection, mutation->tag);
}

static pawl_status register_sql(pawl_attempt *attempt, enum pawl_mutation_when when, const char *sql, const char *tag)
{
    char parameters[SIM_TEXT_MAX + 8];
    int size = snprintf(parameters, sizeof parameters, "[\"%s\"]", tag);
    return pawl_attempt_sql(attempt, when, sql, parameters, (size_t)size);
}

static pawl_status register_create(struct player *player, pawl_attempt *attempt, const struct sim_node *plan)
{
    struct sim_world *world = player->world;
    char id[SIM_TEXT_MAX], params[SIM_TEXT_MAX];
    bool is_fresh = sim_below(&world->chance, 3) > 0;
    (void)snprintf(id, sizeof id, "kid%d", is_fresh ? 100 + world->names_made++ : sim_below(&world->chance, 2));
    int size = snprintf(params, sizeof params, "%d", plan->child_program);
    return pawl_attempt_create(attempt, "beta", id, params, (size_t)size);
}

static pawl_status register_event(struct player *player, pawl_attempt *attempt, const struct sim_node *plan)
{
    struct sim_world *world = player->world;
    char payload[SIM_TEXT_MAX];
    int target = sim_below(&world->chance, world->model.instance_count);
    const struct sim_instance *instance = &world->model.instances[target];
    if (sim_is_job(instance))
        instance = &world->model.instances[0];
    int size = snprintf(payload, sizeof payload, "%d", world->events_sent++);
    return pawl_attempt_send_event(attempt, instance->workflow, instance->id, plan->event_type == 0 ? "e0" : "e1",
                                   payload, (size_t)size);
}

static pawl_status register_effect(struct player *player, pawl_attempt *attempt, const struct sim_node *plan, int node,
                                   int number)
{
    static const char insert[] = "INSERT INTO sim_effect (tag) VALUES ($1)";
    static const char insert_unique[] = "INSERT INTO sim_unique (tag) VALUES ($1)";
    struct sim_mutation mutation = { .fails = sim_below(&player->world->chance, 4) < (plan->in_race ? 3 : 1),
                                     .in_memory = player->world->in_memory };
    const struct pw_fence *fence = player->fence;
    (void)snprintf(mutation.tag, sizeof mutation.tag, "%lld.%lld.%d.s.%d", (long long)fence->instance,
                   (long long)fence->run, node, number);
    switch (plan->effect) {
    case SIM_EFFECT_NONE:
        return PAWL_OK;
    case SIM_EFFECT_SQL:
        return register_sql(attempt, PAWL_WITH_SUCCESS, insert, mutation.tag);
    case SIM_EFFECT_CALL:
        return pawl_attempt_mutate(attempt, PAWL_WITH_SUCCESS, insert_tag, &mutation, sizeof mutation);
    case SIM_EFFECT_UNIQUE:
        (void)snprintf(mutation.tag, sizeof mutation.tag, "u.%d", node);
        return register_sql(attempt, PAWL_WITH_SUCCESS, insert_unique, mutation.tag);
    case SIM_EFFECT_CREATE:
        return register_create(player, attempt, plan);
    case SIM_EFFECT_EVENT:
        return register_event(player, attempt, plan);
    }
    return PAWL_OK;
}

/* The child's id is the number of the body that made it. */
static pawl_status register_child(pawl_attempt *attempt, const struct sim_node *plan, int number)
{
    char id[SIM_TEXT_MAX], params[SIM_TEXT_MAX];
    const char *given = NULL;
    (void)snprintf(id, sizeof id, "own%d", number);
    int size = snprintf(params, sizeof params, "%d", plan->child_program);
    pawl_status status =
        pawl_attempt_create_child(attempt, "beta", id, plan->is_attached, params, (size_t)size, &given);
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status != PAWL_OK || strcmp(given, id) == 0, "a child is named %s", given);
    return status;
}

static void prepare_body(struct player *player, pawl_lane *lane, pawl_attempt *attempt, int node, int number)
{
    const struct sim_node *plan = &player->program->nodes[sim_node_at(node)];
    char text[SIM_TEXT_MAX];
    if (sim_is_undo(node))
        return;
    pawl_status status = plan->kind == SIM_CHILD ? register_child(attempt, plan, number)
                                                 : register_effect(player, attempt, plan, node, number);
    if (status == PAWL_OK && plan->effect_on_failure) {
        (void)snprintf(text, sizeof text, "%lld.%lld.%d.f.%d", (long long)player->fence->instance,
                       (long long)player->fence->run, node, number);
        status = register_sql(attempt, PAWL_WITH_FAILURE, "INSERT INTO sim_effect (tag) VALUES ($1)", text);
    }
    if (status == PAWL_OK && plan->logs) {
        (void)snprintf(text, sizeof text, "body %d", number);
        status = pawl_lane_log(lane, attempt, PAWL_LOG_INFO, NULL, text, NULL, 0);
    }
    SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_OK, "what n%d registers is refused: %s", node,
              pawl_status_name(status));
}

/* Everything that this lane was told is durable, unless the turn has lost its run. */
static void check_durable(const struct player *player, int node, uint64_t told)
{
    if (!sim_model_holds(&player->world->model, player->fence))
        return;
    for (int other = 0; other < 2 * SIM_NODES_MAX; other++) {
        if ((told & (UINT64_C(1) << other)) != 0)
            SIM_CHECK(SIM_RULE_DURABLE_FIRST, sim_step_is_finished(row_of(player, other)),
                      "the body of n%d begins before n%d is durable", node, other);
    }
}

/* Once all is calm what somebody resumed was mended. */
static enum sim_body_end choose_end(struct player *player, int64_t attempt, int64_t deadline_ms, bool is_put_back)
{
    struct sim_world *world = player->world;
    const struct sim_mood *mood = &world->mood;
    if (world->is_calm && is_put_back)
        return SIM_BODY_OK;
    if (sim_happens(&world->chance, mood->body_is_late) && attempt < ATTEMPT_THAT_SUCCEEDS)
        sim_pass(world, deadline_ms + sim_between(&world->chance, 0, 2) - world->model.monotonic_ms);
    if (sim_below(&world->chance, 2) == 0)
        sim_loose_watch(world, player->process);
    if (!world->is_calm && sim_happens(&world->chance, mood->body_crashes))
        sim_process_crash(world, player->process);
    if (attempt >= ATTEMPT_THAT_SUCCEEDS)
        return SIM_BODY_OK;
    if (sim_happens(&world->chance, mood->body_fails_for_good))
        return SIM_BODY_FAILED_FOR_GOOD;
    return sim_happens(&world->chance, mood->body_fails) ? SIM_BODY_FAILED : SIM_BODY_OK;
}

static pawl_status end_body(struct sim_world *world, pawl_attempt *attempt, int number, enum sim_body_end end)
{
    struct sim_body *body = &world->model.bodies[number];
    char text[SIM_TEXT_MAX];
    pawl_status status;
    int size = snprintf(text, sizeof text, "%d", number);
    body->end = end;
    body->returned_at_ms = world->model.monotonic_ms;
    if (world->plant.kind == SIM_PLANT_LATE_RESULT && world->model.monotonic_ms > body->deadline_ms)
        world->model.monotonic_ms = body->deadline_ms; /* the engine's clock lags behind for a moment */
    if (end == SIM_BODY_OK)
        status = pawl_attempt_complete(attempt, text, (size_t)size);
    else
        status = pawl_attempt_fail(attempt, end == SIM_BODY_FAILED ? "Flaky" : "Broken", text, end == SIM_BODY_FAILED);
    body->ended_at_ms = world->model.monotonic_ms;
    return status;
}

/* Another worker carries the branches beside this one, of which one may come first while the body runs. */
static void carry_rivals(const struct player *player)
{
    struct sim_world *world = player->world;
    struct pw_fork *race = player->turn->races;
    if (!player->process->is_loose || race == NULL || world->is_calm || sim_below(&world->chance, 4) > 0)
        return;
    sim_trace("a worker carries the rivals of this branch");
    sim_trace_enter();
    (void)pw_fork_help(race);
    sim_trace_leave();
}

/* Just before the body begins its process may be stopped: that is the window in which nobody looks at the lease. */
static int start_body(struct player *player, pawl_attempt *attempt, int node)
{
    struct sim_world *world = player->world;
    struct sim_start start = { .fence = player->fence,
                               .node = node,
                               .attempt = pawl_attempt_number(attempt),
                               .deadline_ms = world->model.monotonic_ms + pawl_attempt_remaining_ms(attempt),
                               .lease_ms = world->mood.lease_ms };
    sim_process_stop(world, player->process);
    start.now_ms = world->now_ms;
    start.looked_at_ms = player->process->looked_at_ms;
    world->counts->bodies++;
    if (!sim_model_holds(&world->model, player->fence))
        world->counts->late++;
    if (world->plant.kind == SIM_PLANT_TWO_BODIES)
        (void)sim_model_body_starts(&world->model, &start);
    return sim_model_body_starts(&world->model, &start);
}

static pawl_status run_body(struct player *player, pawl_lane *lane, pawl_attempt *attempt, int node, uint64_t told)
{
    struct sim_world *world = player->world;
    int64_t try = pawl_attempt_number(attempt);
    if (player->process->is_dead) { /* its code does not run any more */
        (void)!pawl_attempt_fail(attempt, "Dead", "", true);
        return PAWL_SUSPENDED;
    }
    check_durable(player, node, told);
    int number = start_body(player, attempt, node);
    int64_t deadline_ms = world->model.bodies[number].deadline_ms;
    sim_trace("body %d: n%d of %s, run %lld, attempt %lld", number, node, player->turn->claim.id.data,
              (long long)player->fence->run, (long long)try);
    prepare_body(player, lane, attempt, node, number);
    carry_rivals(player);
    sim_interlude(world);
    enum sim_body_end end = choose_end(player, try, deadline_ms, row_of(player, node)->goes > 0);
    pawl_status status = end_body(world, attempt, number, end);
    sim_trace("body %d ends: %s -> %s", number,
              end == SIM_BODY_OK       ? "ok"
              : end == SIM_BODY_FAILED ? "failed"
                                       : "failed for good",
              pawl_status_name(status));
    return status == PAWL_OK ? PAWL_OK : PAWL_SUSPENDED;
}

/* ---- Nodes --------------------------------------------------------------------------------------------------------- */

static pawl_status play_do(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    struct pawl_answer answer;
    char name[SIM_NAME_SIZE], undone[SIM_NAME_SIZE];
    size_t size = sim_name_of(node, name);
    struct pawl_policy policy = player->program->nodes[sim_node_at(node)].policy;
    if (sim_is_undo(node)) {
        (void)sim_name_of(sim_node_at(node), undone);
        policy.undoes = undone;
    }
    for (;;) {
        pawl_status status = pawl_recall_step(lane, name, size, &policy, &answer);
        if (status != PAWL_OK)
            return refused(player, lane, node, status);
        if (answer.kind != PAWL_ANSWER_RUN)
            return park_if_failed(player, lane, node, tell(player, node, &answer, told, digest));
        if (run_body(player, lane, answer.attempt, node, *told) != PAWL_OK)
            return PAWL_SUSPENDED;
    }
}

static pawl_status play_timer(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    const struct sim_node *plan = &player->program->nodes[node];
    struct pawl_answer answer;
    char name[SIM_NAME_SIZE];
    size_t size = sim_name_of(node, name);
    pawl_status status;
    if (plan->kind == SIM_SLEEP)
        status = pawl_recall_sleep(lane, name, size, plan->ms, &answer);
    else if (plan->kind == SIM_SLEEP_UNTIL)
        status = pawl_recall_sleep_until(lane, name, size, player->world->start_ms + plan->ms, &answer);
    else
        status = pawl_recall_event(lane, name, size, plan->event_type == 0 ? "e0" : "e1", plan->ms, &answer);
    return status == PAWL_OK ? tell(player, node, &answer, told, digest) : refused(player, lane, node, status);
}

static pawl_status play_other(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    const struct sim_node *plan = &player->program->nodes[node];
    struct pawl_answer answer;
    char name[SIM_NAME_SIZE], data[SIM_TEXT_MAX];
    size_t size = sim_name_of(node, name);
    struct pawl_job_request request = { .function = "f", .data_json = data };
    const char *token;
    pawl_status status = PAWL_OK;
    request.data_size = (size_t)snprintf(data, sizeof data, "%d", node);
    if (plan->kind == SIM_CALL) {
        status = pawl_recall_call(lane, name, size, &request, &plan->policy, &answer);
    } else {
        status = pawl_recall_token(lane, name, size, &token);
        if (status == PAWL_OK)
            status = pawl_recall_deferred(lane, name, size, plan->ms, &answer);
    }
    if (status != PAWL_OK)
        return refused(player, lane, node, status);
    status = tell(player, node, &answer, told, digest);
    return plan->kind == SIM_CALL ? park_if_failed(player, lane, node, status) : status;
}

static pawl_status play_child(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    struct pawl_answer answer;
    char name[SIM_NAME_SIZE], id[SIM_TEXT_MAX];
    uint64_t of_wait = 0;
    pawl_status status = play_do(player, lane, node, told, digest);
    if (status != PAWL_OK)
        return status;
    /* What it was told is what the body returned: its number. */
    size_t size = sim_name_of(node, name);
    status = pawl_recall_step(lane, name, size, &player->program->nodes[node].policy, &answer);
    if (status != PAWL_OK)
        return refused(player, lane, node, status);
    (void)snprintf(id, sizeof id, "own%d", atoi(answer.result_json));
    if (sim_below(&player->world->chance, 6) == 0)
        sim_interlude_long(player->world); /* it may end before anybody waits for it */
    size = sim_name_of(node + SIM_NODES_MAX, name);
    status = pawl_recall_child(lane, name, size, "beta", id, &answer);
    if (status != PAWL_OK)
        return refused(player, lane, node, status);
    status = tell(player, node + SIM_NODES_MAX, &answer, told, &of_wait);
    *digest = sim_digest_node(*digest, of_wait);
    return park_if_failed(player, lane, node, status);
}

static pawl_status play_log(struct player *player, pawl_lane *lane, int node, uint64_t *digest)
{
    char name[SIM_NAME_SIZE];
    (void)sim_name_of(node, name);
    *digest = (uint64_t)node;
    pawl_status status = pawl_lane_log(lane, NULL, PAWL_LOG_INFO, NULL, name, NULL, 0);
    return status == PAWL_OK ? PAWL_OK : refused(player, lane, node, status);
}

static pawl_status play_sequence(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    const struct sim_node *nodes = player->program->nodes;
    *digest = (uint64_t)node;
    for (int child = nodes[node].first_child; child != SIM_NONE; child = nodes[child].next_sibling) {
        uint64_t of_child = 0;
        pawl_status status = play_node(player, lane, child, told, &of_child);
        if (status != PAWL_OK && status != PAWL_FAILED)
            return status;
        *digest = sim_digest_node(*digest, of_child);
        if (status == PAWL_FAILED && !nodes[child].is_tolerant)
            return status;
    }
    return PAWL_OK;
}

struct branches {
    struct player *player;
    int nodes[BRANCHES_MAX];
    uint64_t told[BRANCHES_MAX];
    uint64_t digests[BRANCHES_MAX];
    uint64_t told_before;
    bool is_parked[BRANCHES_MAX];
};

static pawl_status play_branch(pawl_lane *lane, size_t position, void *user)
{
    struct branches *branches = user;
    branches->told[position] = branches->told_before;
    pawl_status status = play_node(branches->player, lane, branches->nodes[position], &branches->told[position],
                                   &branches->digests[position]);
    branches->is_parked[position] = status == (pawl_status)PARKED;
    return branches->is_parked[position] ? PAWL_SUSPENDED : status;
}

static size_t gather(struct player *player, int node, uint64_t told, struct branches *branches)
{
    const struct sim_node *nodes = player->program->nodes;
    size_t count = 0;
    *branches = (struct branches){ .player = player, .told_before = told };
    for (int child = nodes[node].first_child; child != SIM_NONE; child = nodes[child].next_sibling)
        branches->nodes[count++] = child;
    return count;
}

/* Of losers and of those that are not finished, too: what they did may have to be undone. */
static void gather_told(const struct branches *branches, size_t count, uint64_t *told)
{
    for (size_t i = 0; i < count; i++)
        *told |= branches->told[i];
}

/* A run of which a branch waits for repair waits for that. */
static pawl_status refused_branches(const struct player *player, pawl_lane *lane, int node,
                                    const struct branches *branches, pawl_status status)
{
    for (size_t i = 0; i < BRANCHES_MAX && status == PAWL_SUSPENDED; i++) {
        if (branches->is_parked[i])
            return (pawl_status)PARKED;
    }
    return refused(player, lane, node, status);
}

static pawl_status play_all(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    struct branches branches;
    pawl_status statuses[BRANCHES_MAX];
    char name[SIM_NAME_SIZE];
    size_t count = gather(player, node, *told, &branches), size = sim_name_of(node, name);
    size_t limit = (size_t)player->program->nodes[node].limit;
    pawl_status status = pawl_lane_all(lane, name, size, count, limit, play_branch, &branches, statuses);
    gather_told(&branches, count, told);
    if (status != PAWL_OK)
        return refused_branches(player, lane, node, &branches, status);
    *digest = (uint64_t)node;
    for (size_t i = 0; i < count; i++) {
        *digest = sim_digest_node(*digest, branches.digests[i]);
        if (statuses[i] != PAWL_OK && status != PAWL_INTERRUPTED)
            status = statuses[i] == PAWL_INTERRUPTED ? PAWL_INTERRUPTED : PAWL_FAILED;
    }
    return status;
}

static pawl_status play_first(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    struct branches branches;
    pawl_status statuses[BRANCHES_MAX];
    char name[SIM_NAME_SIZE];
    size_t winner = 0, count = gather(player, node, *told, &branches);
    pawl_status status =
        pawl_lane_first(lane, name, sim_name_of(node, name), count, play_branch, &branches, &winner, statuses);
    gather_told(&branches, count, told);
    if (status != PAWL_OK)
        return refused_branches(player, lane, node, &branches, status);
    const struct sim_step *row = row_of(player, node);
    SIM_CHECK(SIM_RULE_WINNER,
              !sim_model_holds(&player->world->model, player->fence) || !sim_step_is_finished(row) ||
                  atoi(row->result) == (int)winner,
              "n%d of %s: won by %zu, stored is %s", node, player->turn->claim.id.data, winner, row->result);
    *told |= UINT64_C(1) << node;
    *digest = sim_digest_node((uint64_t)node, branches.digests[winner]);
    return statuses[winner] == PAWL_OK || statuses[winner] == PAWL_INTERRUPTED ? statuses[winner] : PAWL_FAILED;
}

static pawl_status play_node(struct player *player, pawl_lane *lane, int node, uint64_t *told, uint64_t *digest)
{
    switch (player->program->nodes[node].kind) {
    case SIM_SEQUENCE:
        return play_sequence(player, lane, node, told, digest);
    case SIM_DO:
        return play_do(player, lane, node, told, digest);
    case SIM_SLEEP:
    case SIM_SLEEP_UNTIL:
    case SIM_WAIT:
        return play_timer(player, lane, node, told, digest);
    case SIM_CALL:
    case SIM_DEFERRED:
        return play_other(player, lane, node, told, digest);
    case SIM_CHILD:
        return play_child(player, lane, node, told, digest);
    case SIM_LOG:
        return play_log(player, lane, node, digest);
    case SIM_ALL:
        return play_all(player, lane, node, told, digest);
    case SIM_FIRST:
        return play_first(player, lane, node, told, digest);
    }
    return PAWL_SUSPENDED;
}

/* ---- The end of a pass ---------------------------------------------------------------------------------------------- */

/* The youngest of those that are still to be undone; SIM_NONE: there is none. */
static int youngest(const struct player *player, uint64_t wanted)
{
    int found = SIM_NONE;
    for (int node = 0; node < player->program->count; node++) {
        if ((wanted & (UINT64_C(1) << node)) == 0)
            continue;
        bool is_younger = found == SIM_NONE || player->finished[node].at_ms > player->finished[found].at_ms ||
                          (player->finished[node].at_ms == player->finished[found].at_ms &&
                           player->finished[node].order > player->finished[found].order);
        found = is_younger ? node : found;
    }
    return found;
}

/* What it did is undone, the youngest first; one that cannot be is left.  PAWL_SUSPENDED: not all yet. */
static pawl_status undo(struct player *player, uint64_t told)
{
    uint64_t wanted = 0, digest;
    for (int node = 0; node < player->program->count; node++) {
        bool is_done = (told & (UINT64_C(1) << node)) != 0 && player->finished[node].at_ms > 0;
        if (is_done && player->program->nodes[node].is_undone)
            wanted |= UINT64_C(1) << node;
    }
    if (player->world->plant.kind == SIM_PLANT_NOT_UNDONE)
        wanted &= wanted - 1;
    pawl_turn_unwind(player->turn);
    player->is_undoing = true;
    for (int node = youngest(player, wanted); node != SIM_NONE; node = youngest(player, wanted)) {
        if (play_do(player, pawl_turn_lane(player->turn), node + 2 * SIM_NODES_MAX, &told, &digest) == PAWL_SUSPENDED)
            return PAWL_SUSPENDED;
        wanted &= ~(UINT64_C(1) << node);
    }
    return PAWL_OK;
}

/* Somebody may ask for a pause or an interruption that this turn does not hear of before it has parked the run. */
static void maybe_disturb(const struct player *player, int one_in)
{
    struct sim_world *world = player->world;
    if (sim_may_interlude(world) && sim_below(&world->chance, one_in) == 0)
        sim_client_disturb(world, sim_model_by_key(&world->model, player->fence->instance));
}

static void await_repair(const struct player *player)
{
    maybe_disturb(player, 3);
    pawl_turn_await_repair(player->turn);
}

void sim_play(pawl_turn *turn, void *user)
{
    struct sim_world *world = user;
    struct pawl_turn_info info;
    char text[SIM_TEXT_MAX];
    uint64_t told = 0, digest = 0;
    if (!world->is_calm && world->mood.gives_up > 0 && sim_happens(&world->chance, world->mood.gives_up)) {
        pawl_turn_suspend(turn);
        return;
    }
    pawl_turn_describe(turn, &info);
    struct player player = { .world = world,
                             .process = sim_process_of(world, pawl_turn_engine(turn)),
                             .turn = turn,
                             .program = &world->programs[atoi(info.params_json)],
                             .fence = &turn->claim.fence };
    pawl_status status = play_node(&player, pawl_turn_lane(turn), 0, &told, &digest);
    int size = snprintf(text, sizeof text, "\"%016llx\"", (unsigned long long)digest);
    if (status == PAWL_OK)
        status = pawl_lane_check(pawl_turn_lane(turn)); /* no call may be left to say that it is interrupted */
    if ((status == PAWL_FAILED || status == PAWL_INTERRUPTED) && undo(&player, told) != PAWL_OK)
        status = PAWL_SUSPENDED;
    if (status == PAWL_OK)
        maybe_disturb(&player, 16);
    if (status == PAWL_OK)
        pawl_turn_finish(turn, text, (size_t)size);
    else if (status == PAWL_FAILED)
        pawl_turn_fail(turn, "Program", text);
    else if (status == PAWL_INTERRUPTED)
        pawl_turn_fail(turn, pawl_status_name(PAWL_INTERRUPTED), "");
    else if (status == (pawl_status)PARKED)
        await_repair(&player);
    else
        pawl_turn_suspend(turn);
}

/* ---- Jobs ------------------------------------------------------------------------------------------------------------ */

/* The body of a job, which is all there is of it.  PAWL_SUSPENDED: its process is dead. */
static void work(struct player *player, pawl_attempt *attempt, int number, int64_t attempt_of_call)
{
    struct sim_world *world = player->world;
    struct sim_body *body = &world->model.bodies[number];
    char text[SIM_TEXT_MAX];
    int size = snprintf(text, sizeof text, "%d", number);
    sim_interlude(world);
    enum sim_body_end end = choose_end(player, attempt_of_call, body->deadline_ms, false);
    body->end = end;
    body->returned_at_ms = world->model.monotonic_ms;
    if (player->turn->stop == PW_STOP_GIVEN_UP)
        sim_interlude_long(world); /* whoever takes it up now says so */
    pawl_attempt_drop(attempt);
    body->ended_at_ms = world->model.monotonic_ms;
    if (end == SIM_BODY_OK)
        pawl_turn_finish(player->turn, text, (size_t)size);
    else if (end == SIM_BODY_FAILED)
        pawl_turn_fail(player->turn, "Flaky", text);
    else
        pawl_turn_fail_for_good(player->turn, "Broken", text);
}

static int64_t number_in(const char *params, const char *key)
{
    const char *found = strstr(params, key);
    SIM_CHECK(SIM_RULE_NO_SURPRISE, found != NULL, "a job's params: %s", params);
    return strtoll(found + strlen(key), NULL, 10);
}

void sim_work(pawl_turn *turn, void *user)
{
    struct sim_world *world = user;
    struct pawl_turn_info info;
    struct pawl_answer answer;
    struct pawl_policy policy = { .timeout_ms = 1000 };
    struct player player = { .world = world,
                             .process = sim_process_of(world, pawl_turn_engine(turn)),
                             .turn = turn,
                             .fence = &turn->claim.fence };
    if (!world->is_calm && world->mood.gives_up > 0 && sim_happens(&world->chance, world->mood.gives_up * 3)) {
        pawl_turn_suspend(turn);
        return;
    }
    pawl_turn_describe(turn, &info);
    policy.timeout_ms = number_in(info.params_json, "\"timeoutMs\":");
    pawl_status status = pawl_recall_step(pawl_turn_lane(turn), "call", 4, &policy, &answer);
    if (status != PAWL_OK) {
        SIM_CHECK(SIM_RULE_NO_SURPRISE, status == PAWL_SUSPENDED, "a job is refused: %s", pawl_status_name(status));
        pawl_turn_suspend(turn);
    } else if (answer.kind == PAWL_ANSWER_FAILED) {
        pawl_turn_fail(turn, answer.error_name, answer.error_message);
    } else if (player.process->is_dead) {
        (void)!pawl_attempt_fail(answer.attempt, "Dead", "", true);
        pawl_turn_suspend(turn);
    } else {
        int number = start_body(&player, answer.attempt, 0);
        sim_trace("body %d: job %s", number, info.instance_id);
        work(&player, answer.attempt, number, number_in(info.params_json, "\"attempt\":"));
    }
}
