/* program.c - see program.h. */
#include "program.h"

#include <string.h>

#include "fail.h"

enum { DEPTH_MAX = 3, CHILDREN_MAX = 4 };

void sim_taste_choose(struct sim_taste *taste, bool with_others, struct sim_chance *chance)
{
    static const int usual[] = { [SIM_SEQUENCE] = 4, [SIM_DO] = 20, [SIM_SLEEP] = 5, [SIM_SLEEP_UNTIL] = 2,
                                 [SIM_WAIT] = 7,     [SIM_LOG] = 4, [SIM_ALL] = 4,   [SIM_FIRST] = 4 };
    *taste = (struct sim_taste){ .undone = with_others ? 300 : 0 };
    memcpy(taste->weights, usual, sizeof usual);
    for (int kind = SIM_SLEEP; kind <= SIM_FIRST; kind++) {
        int mood = sim_below(chance, 8);
        taste->weights[kind] *= mood == 0 ? 0 : mood == 1 ? 4 : 1;
    }
    taste->effects = sim_below(chance, 3) * 300;
    taste->size = (int)sim_between(chance, 3, 12);
    for (int kind = SIM_CALL; kind <= SIM_DEFERRED && with_others; kind++)
        taste->weights[kind] = sim_below(chance, 4) * 10;
}

static enum sim_node_kind draw_kind(const struct sim_taste *taste, bool may_nest, struct sim_chance *chance)
{
    int total = 0;
    for (int kind = 0; kind < SIM_KIND_COUNT; kind++)
        total += taste->weights[kind];
    for (;;) {
        int drawn = sim_below(chance, total), kind = 0;
        while (drawn >= taste->weights[kind])
            drawn -= taste->weights[kind++];
        bool nests = kind == SIM_SEQUENCE || kind == SIM_ALL || kind == SIM_FIRST;
        if (may_nest || !nests)
            return (enum sim_node_kind)kind;
    }
}

static void make_policy(struct pawl_policy *policy, struct sim_chance *chance)
{
    static const int64_t delays_ms[] = { 0, 1, 500, 4000, 30000 };
    static const int64_t timeouts_ms[] = { 1, 200, 5000, 60000, 600000 };
    *policy = (struct pawl_policy){ .retries_max = sim_below(chance, 4),
                                    .delay_ms = delays_ms[sim_below(chance, 5)],
                                    .backoff = (enum pawl_backoff)sim_below(chance, PAWL_BACKOFF_EXPONENTIAL + 1),
                                    .timeout_ms = timeouts_ms[sim_below(chance, 5)] };
    if (sim_below(chance, 12) == 0)
        policy->retries_max = PAWL_RETRIES_UNLIMITED;
}

static void make_body(struct sim_node *node, const struct sim_taste *taste, int child_program, bool in_race,
                      struct sim_chance *chance)
{
    make_policy(&node->policy, chance);
    node->logs = sim_below(chance, 4) == 0;
    node->in_race = in_race;
    node->is_undone = taste->undone > 0 && sim_happens(chance, taste->undone);
    if (!sim_happens(chance, in_race ? taste->effects * 3 / 2 : taste->effects))
        return;
    node->effect = (enum sim_effect)sim_below(chance, SIM_EFFECT_EVENT + 1);
    if (in_race && node->effect <= SIM_EFFECT_SQL)
        node->effect = SIM_EFFECT_CALL;
    node->effect_on_failure = sim_below(chance, 2) == 0;
    node->child_program = child_program;
    if (node->effect == SIM_EFFECT_CREATE && child_program == SIM_NONE)
        node->effect = SIM_EFFECT_SQL;
}

/* What others finish.  Who makes no children makes a step like any other. */
static void make_other(struct sim_node *node, const struct sim_taste *taste, int child_program,
                       struct sim_chance *chance)
{
    static const int64_t waits_ms[] = { 1000, 7000, 60000, 600000 };
    make_policy(&node->policy, chance);
    node->is_undone = sim_happens(chance, taste->undone) && node->kind != SIM_DEFERRED;
    node->is_attached = sim_below(chance, 2) == 0;
    node->child_program = child_program;
    node->ms = waits_ms[sim_below(chance, 4)];
    if (node->kind == SIM_CHILD && child_program == SIM_NONE)
        node->kind = SIM_DO;
}

static void make_leaf(struct sim_node *node, const struct sim_taste *taste, int child_program, bool in_race,
                      struct sim_chance *chance)
{
    static const int64_t sleeps_ms[] = { 0, 1, 999, 8000, 90000 };
    static const int64_t waits_ms[] = { 1000, 1001, 7000, 60000 };
    node->is_tolerant = sim_below(chance, 2) == 0;
    node->event_type = sim_below(chance, 2);
    if (node->kind == SIM_DO)
        make_body(node, taste, child_program, in_race, chance);
    else if (node->kind == SIM_SLEEP)
        node->ms = sleeps_ms[sim_below(chance, 5)];
    else if (node->kind == SIM_SLEEP_UNTIL)
        node->ms = sim_between(chance, -5000, 60000);
    else if (node->kind == SIM_WAIT)
        node->ms = waits_ms[sim_below(chance, 4)];
    else if (node->kind != SIM_LOG)
        make_other(node, taste, child_program, chance);
}

struct maker {
    struct sim_program *program;
    const struct sim_taste *taste;
    struct sim_chance *chance;
    int child_program;
    int races; /* that the node stands in */
};

static int make_node(struct maker *maker, enum sim_node_kind kind, int depth);

static void make_children(struct maker *maker, int parent, int wanted, int depth)
{
    struct sim_program *program = maker->program;
    int last = SIM_NONE;
    for (int i = 0; i < wanted && program->count < SIM_NODES_MAX; i++) {
        enum sim_node_kind kind = draw_kind(maker->taste, depth < DEPTH_MAX, maker->chance);
        int child = make_node(maker, kind, depth + 1);
        *(last != SIM_NONE ? &program->nodes[last].next_sibling : &program->nodes[parent].first_child) = child;
        program->nodes[parent].child_count++;
        last = child;
    }
}

/* Room for the node itself is the caller's to see to. */
static int make_node(struct maker *maker, enum sim_node_kind kind, int depth)
{
    struct sim_program *program = maker->program;
    int position = program->count++;
    struct sim_node *node = &program->nodes[position];
    *node = (struct sim_node){ .kind = kind, .first_child = SIM_NONE, .next_sibling = SIM_NONE };
    if (kind != SIM_SEQUENCE && kind != SIM_ALL && kind != SIM_FIRST) {
        make_leaf(node, maker->taste, maker->child_program, maker->races > 0, maker->chance);
        return position;
    }
    node->is_tolerant = sim_below(maker->chance, 2) == 0;
    int children = depth == 0 ? maker->taste->size : 1 + sim_below(maker->chance, CHILDREN_MAX);
    maker->races += kind == SIM_FIRST;
    make_children(maker, position, children, depth);
    maker->races -= kind == SIM_FIRST;
    node->limit = sim_below(maker->chance, 3) == 0 ? 1 + sim_below(maker->chance, 2) : 0;
    if (program->nodes[position].child_count == 0)
        node->kind = SIM_LOG; /* no room was left */
    return position;
}

void sim_program_make(struct sim_program *program, const struct sim_taste *taste, int child_program,
                      struct sim_chance *chance)
{
    struct maker maker = { program, taste, chance, child_program, 0 };
    program->count = 0;
    program->suspends = false;
    make_node(&maker, SIM_SEQUENCE, 0);
}

void sim_program_change(struct sim_program *program)
{
    for (int i = 0; i < program->count; i++) {
        if (program->nodes[i].kind == SIM_WAIT)
            program->nodes[i].event_type = 1 - program->nodes[i].event_type;
    }
}

static void trace_node(const struct sim_program *program, int position)
{
    static const char *const kinds[] = { "sequence", "do",    "sleep", "sleep until", "wait",    "log",
                                         "all",      "first", "call",  "child",       "deferred" };
    static const char *const effects[] = { "", ", sql", ", call", ", unique", ", create", ", event" };
    const struct sim_node *node = &program->nodes[position];
    sim_trace("n%d %s%s%s%s%s, %lld ms, limit %d", position, kinds[node->kind], node->is_tolerant ? ", tolerant" : "",
              effects[node->effect], node->effect_on_failure ? ", on failure" : "", node->is_undone ? ", undone" : "",
              (long long)(node->kind == SIM_DO ? node->policy.delay_ms : node->ms), node->limit);
    sim_trace_enter();
    for (int child = node->first_child; child != SIM_NONE; child = program->nodes[child].next_sibling)
        trace_node(program, child);
    sim_trace_leave();
}

void sim_program_trace(const struct sim_program *program, int number)
{
    sim_trace("program %d%s", number, program->suspends ? ", suspends on failure" : "");
    sim_trace_enter();
    trace_node(program, 0);
    sim_trace_leave();
}

/* ---- Looking at one -------------------------------------------------------------------------------------------------- */

static bool is_fork(const struct sim_node *node)
{
    return node->kind == SIM_ALL || node->kind == SIM_FIRST;
}

static int parent_of(const struct sim_program *program, int node)
{
    for (int i = 0; i < program->count; i++) {
        for (int child = program->nodes[i].first_child; child != SIM_NONE; child = program->nodes[child].next_sibling)
            if (child == node)
                return i;
    }
    return SIM_NONE;
}

static bool has_fork(const struct sim_program *program, int node)
{
    bool any = is_fork(&program->nodes[node]);
    for (int child = program->nodes[node].first_child; child != SIM_NONE; child = program->nodes[child].next_sibling)
        any = has_fork(program, child) || any;
    return any;
}

/* The outermost branch that it is in, or SIM_NONE: it is on the main lane. */
static int branch_of(const struct sim_program *program, int node)
{
    int branch = SIM_NONE;
    for (int parent = parent_of(program, node); parent != SIM_NONE; parent = parent_of(program, node)) {
        if (is_fork(&program->nodes[parent]))
            branch = node;
        node = parent;
    }
    return branch;
}

bool sim_forks_in_a_branch(const struct sim_program *program, int node)
{
    int branch = branch_of(program, node);
    return branch != SIM_NONE && has_fork(program, branch);
}
