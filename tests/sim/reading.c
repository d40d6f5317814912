/* reading.c - what a program comes to, read from the rows of a run.  The counterpart, play.c, gets there by running it
 * on the engine; both must agree (invariant 21). */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

uint64_t sim_digest_told(uint64_t digest, int node, bool done, const char *result, const char *error_name)
{
    const char *text = done ? result : error_name;
    digest = sim_mix(digest + (uint64_t)node * 2 + done);
    return sim_digest_text(digest, pw_text_of(text != NULL ? text : ""));
}

uint64_t sim_digest_node(uint64_t digest, uint64_t of_node)
{
    return sim_mix(digest * 31 + of_node);
}

/* Work that failed for good, and that the run waits for the repair of, has not finished. */
static bool is_parked(const struct sim_instance *instance, const struct sim_step *step)
{
    return instance->program->suspends && sim_can_be_mended(step);
}

static enum sim_reading read_step(const struct sim_instance *instance, const struct sim_run *run, int node,
                                  uint64_t *digest)
{
    const struct sim_step *step = &run->steps[node];
    if (!sim_step_is_finished(step) || is_parked(instance, step))
        return SIM_READ_UNFINISHED;
    bool done = step->status == PAWL_STEP_COMPLETED;
    *digest = sim_digest_told(0, node, done, step->result, step->error_name);
    return done ? SIM_READ_OK : SIM_READ_FAILED;
}

/* The step that makes it, then the wait for it. */
static enum sim_reading read_child(const struct sim_instance *instance, const struct sim_run *run, int node,
                                   uint64_t *digest)
{
    uint64_t of_wait = 0;
    enum sim_reading how = read_step(instance, run, node, digest);
    if (how != SIM_READ_OK)
        return how;
    how = read_step(instance, run, node + SIM_NODES_MAX, &of_wait);
    *digest = sim_digest_node(*digest, of_wait);
    return how;
}

static enum sim_reading read_sequence(const struct sim_model *model, const struct sim_instance *instance,
                                      const struct sim_run *run, int node, uint64_t *digest)
{
    const struct sim_node *nodes = instance->program->nodes;
    *digest = (uint64_t)node;
    for (int child = nodes[node].first_child; child != SIM_NONE; child = nodes[child].next_sibling) {
        uint64_t of_child = 0;
        enum sim_reading how = sim_read_node(model, instance, run, child, &of_child);
        *digest = sim_digest_node(*digest, of_child);
        if (how == SIM_READ_UNFINISHED || (how == SIM_READ_FAILED && !nodes[child].is_tolerant))
            return how;
    }
    return SIM_READ_OK;
}

static enum sim_reading read_all(const struct sim_model *model, const struct sim_instance *instance,
                                 const struct sim_run *run, int node, uint64_t *digest)
{
    const struct sim_node *nodes = instance->program->nodes;
    enum sim_reading how = SIM_READ_OK;
    *digest = (uint64_t)node;
    for (int child = nodes[node].first_child; child != SIM_NONE; child = nodes[child].next_sibling) {
        uint64_t of_child = 0;
        enum sim_reading of_branch = sim_read_node(model, instance, run, child, &of_child);
        *digest = sim_digest_node(*digest, of_child);
        if (of_branch == SIM_READ_UNFINISHED)
            return SIM_READ_UNFINISHED;
        if (of_branch == SIM_READ_FAILED)
            how = SIM_READ_FAILED;
    }
    return how;
}

/* SIM_NONE: there is none, or none any more. */
static int winner_of(const struct sim_instance *instance, const struct sim_run *run, int race)
{
    const struct sim_node *nodes = instance->program->nodes;
    const struct sim_step *choice = &run->steps[race];
    if (!sim_step_is_finished(choice))
        return SIM_NONE;
    int child = nodes[race].first_child;
    for (int winner = atoi(choice->result); winner > 0 && child != SIM_NONE; winner--)
        child = nodes[child].next_sibling;
    return child;
}

static enum sim_reading read_first(const struct sim_model *model, const struct sim_instance *instance,
                                   const struct sim_run *run, int node, uint64_t *digest)
{
    uint64_t of_child = 0;
    int child = winner_of(instance, run, node);
    if (child == SIM_NONE)
        return SIM_READ_UNFINISHED;
    enum sim_reading how = sim_read_node(model, instance, run, child, &of_child);
    *digest = sim_digest_node((uint64_t)node, of_child);
    return how;
}

enum sim_reading sim_read_node(const struct sim_model *model, const struct sim_instance *instance,
                               const struct sim_run *run, int node, uint64_t *digest)
{
    switch (instance->program->nodes[node].kind) {
    case SIM_SEQUENCE:
        return read_sequence(model, instance, run, node, digest);
    case SIM_DO:
    case SIM_SLEEP:
    case SIM_SLEEP_UNTIL:
    case SIM_WAIT:
    case SIM_CALL:
    case SIM_DEFERRED:
        return read_step(instance, run, node, digest);
    case SIM_CHILD:
        return read_child(instance, run, node, digest);
    case SIM_LOG:
        *digest = (uint64_t)node;
        return SIM_READ_OK;
    case SIM_ALL:
        return read_all(model, instance, run, node, digest);
    case SIM_FIRST:
        return read_first(model, instance, run, node, digest);
    }
    return SIM_READ_UNFINISHED;
}

/* As sim_read_node() goes, but beyond what has not finished: an interrupted program stops there, and has been told what
 * stands before. */
static uint64_t told_below(const struct sim_instance *instance, const struct sim_run *run, int node)
{
    const struct sim_node *nodes = instance->program->nodes;
    const struct sim_step *step = &run->steps[node];
    uint64_t told = UINT64_C(1) << node, digest;
    int child = nodes[node].first_child;
    if (child == SIM_NONE)
        return sim_step_is_finished(step) ? told : 0;
    if (nodes[node].kind != SIM_FIRST || !sim_step_is_finished(step))
        told = 0;
    for (; child != SIM_NONE; child = nodes[child].next_sibling) {
        told |= told_below(instance, run, child);
        if (nodes[node].kind != SIM_SEQUENCE)
            continue;
        enum sim_reading how = sim_read_node(NULL, instance, run, child, &digest);
        if (how == SIM_READ_UNFINISHED || (how == SIM_READ_FAILED && !nodes[child].is_tolerant))
            break;
    }
    return told;
}

uint64_t sim_read_told(const struct sim_instance *instance, const struct sim_run *run)
{
    return told_below(instance, run, 0);
}

/* A sequence gets to it, a branch is under way, and nothing below a race that is decided counts but its winner. */
static bool awaits_below(const struct sim_instance *instance, const struct sim_run *run, int node)
{
    const struct sim_node *nodes = instance->program->nodes, *plan = &nodes[node];
    int active = 0, winner = plan->kind == SIM_FIRST ? winner_of(instance, run, node) : SIM_NONE;
    uint64_t digest;
    if (plan->first_child == SIM_NONE)
        return is_parked(instance, &run->steps[node]) || is_parked(instance, &run->steps[node + SIM_NODES_MAX]);
    if (winner != SIM_NONE)
        return awaits_below(instance, run, winner);
    for (int child = plan->first_child; child != SIM_NONE; child = nodes[child].next_sibling) {
        if (awaits_below(instance, run, child))
            return true;
        enum sim_reading how = sim_read_node(NULL, instance, run, child, &digest);
        bool ends = how == SIM_READ_UNFINISHED || (how == SIM_READ_FAILED && !nodes[child].is_tolerant);
        if (plan->kind == SIM_SEQUENCE && ends)
            return false;
        active += how == SIM_READ_UNFINISHED;
        if (plan->kind == SIM_ALL && plan->limit > 0 && active == plan->limit)
            return false; /* the others have not begun */
    }
    return false;
}

bool sim_read_awaits_repair(const struct sim_instance *instance, const struct sim_run *run)
{
    return awaits_below(instance, run, 0);
}
