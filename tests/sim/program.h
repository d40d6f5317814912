/* program.h - a random workflow: a tree of durable calls, made from the seed and never changed afterwards.
 *
 * A node's name is "n<position>", so a step's name leads back to its node.  Which attempt at a body does what is not
 * part of the program: that is chance's, each time a body runs. */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "pawl/engine.h"

/* ---- Chance: every choice of a simulated world comes from one number, its seed (SplitMix64) ------------------------- */

struct sim_chance {
    uint64_t state;
};

static inline uint64_t sim_mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94D049BB133111EB);
    return value ^ (value >> 31);
}

static inline uint64_t sim_draw(struct sim_chance *chance)
{
    chance->state += UINT64_C(0x9E3779B97F4A7C15);
    return sim_mix(chance->state);
}

/* 0 to count-1. */
static inline int sim_below(struct sim_chance *chance, int count)
{
    return (int)(sim_draw(chance) % (uint64_t)count);
}

static inline int64_t sim_between(struct sim_chance *chance, int64_t low, int64_t high)
{
    return low + (int64_t)(sim_draw(chance) % (uint64_t)(high - low + 1));
}

/* In so many of a thousand cases. */
static inline bool sim_happens(struct sim_chance *chance, int of_1000)
{
    return sim_below(chance, 1000) < of_1000;
}

/* ---- Programs -------------------------------------------------------------------------------------------------------- */

/* Besides its own step, "n7", a node may have two more: "c7", the wait for the child that it made, and "compensate: n7". */
enum { SIM_NODES_MAX = 24, SIM_STEPS_MAX = 3 * SIM_NODES_MAX, SIM_NONE = -1 };

enum sim_node_kind {
    SIM_SEQUENCE,
    SIM_DO,
    SIM_SLEEP,
    SIM_SLEEP_UNTIL,
    SIM_WAIT,
    SIM_LOG,
    SIM_ALL,
    SIM_FIRST,
    SIM_CALL,  /* a job, for a runner or for a worker outside */
    SIM_CHILD, /* a step that makes a child, and the wait for its end */
    SIM_DEFERRED
};
enum { SIM_KIND_COUNT = SIM_DEFERRED + 1 };

/* What a body registers to come true with its success. */
enum sim_effect {
    SIM_EFFECT_NONE,
    SIM_EFFECT_SQL,
    SIM_EFFECT_CALL,   /* a function, which chance lets fail now and then */
    SIM_EFFECT_UNIQUE, /* a row that only one step of the world can insert */
    SIM_EFFECT_CREATE, /* another instance, which may exist already */
    SIM_EFFECT_EVENT   /* to an instance that chance chooses when the body runs */
};

struct sim_node {
    enum sim_node_kind kind;
    int first_child, next_sibling; /* positions, or SIM_NONE */
    int child_count;
    int limit;        /* ALL */
    bool is_tolerant; /* its failure does not end the sequence that it stands in */
    int64_t ms;       /* SLEEP: duration; SLEEP_UNTIL: since the world's beginning; WAIT: timeout */
    int event_type;
    struct pawl_policy policy;
    enum sim_effect effect;
    bool effect_on_failure; /* besides: a row that says so when the step failed for good */
    bool in_race; /* below a FIRST: what it registers is refused more often, also when its branch has lost already */
    bool logs;
    int child_program; /* SIM_EFFECT_CREATE, SIM_CHILD */
    bool is_attached;  /* SIM_CHILD */
    bool is_undone;    /* it carries a compensation */
};

struct sim_program {
    struct sim_node nodes[SIM_NODES_MAX]; /* the first is the whole */
    int count;
    bool suspends; /* work that failed for good does not say so: the run waits for repair */
};

/* What the programs of a world are made of, so that some worlds are all about one thing. */
struct sim_taste {
    int weights[SIM_KIND_COUNT];
    int effects; /* of 1000 bodies */
    int size;    /* nodes of a program, about */
    int undone;  /* of 1000 bodies: those that carry a compensation */
};

/* with_others: with what others finish, too. */
void sim_taste_choose(struct sim_taste *taste, bool with_others, struct sim_chance *chance);

/* child_program SIM_NONE: it creates no other instances. */
void sim_program_make(struct sim_program *program, const struct sim_taste *taste, int child_program,
                      struct sim_chance *chance);
/* An update of the code, as the engine must bear it: each wait is for the other type of event from now on. */
void sim_program_change(struct sim_program *program);
void sim_program_trace(const struct sim_program *program, int number);
/* Is it in a branch that forks?  What is said there may be taken as new twice (turn/lines.h). */
bool sim_forks_in_a_branch(const struct sim_program *program, int node);

#endif
