/* sweep.h (internal) - the parts of a crash sweep (include/pawl/testing.h).
 *
 *   sweep_crash.c   a store that dies at a chosen commit
 *   sweep_watch.c   records what workflow functions do in each pass, and compares passes
 *   sweep_place.c   finds where in the program a durable call stands
 *   sweep_play.c    one run of the script, in a world of its own
 *   sweep_report.c  the findings, and the text about them
 *   sweep.c         decides which cases are played, and judges each
 *
 * The calling thread drives everything.  If memory runs out in a callback, the watch remembers that, and the play
 * reports it at its end. */
#ifndef PW_TESTING_SWEEP_H
#define PW_TESTING_SWEEP_H

#include "base/rows.h"
#include "base/table.h"
#include "testing/forward.h"
#include "testing/world.h"
#include "turn/inside.h"

#define PW_SWEEP_ID "sweep" /* of the instance */

/* ---- What was done ---------------------------------------------------------------------------------------------- */

struct pw_sweep_run;

struct pw_sweep_step {
    struct pw_text name;
    const struct pw_sweep_run *run; /* the run that it belongs to */
    bool recorded, finished;        /* in the store */
    const void *place;              /* the place of the newest call, or NULL */
    size_t pass;                    /* the pass in which it was called last; 0: none */
    enum pawl_step_kind first_kind; /* the kind of the first call in that pass */
    const void *first_place;        /* the place of the first call in that pass */
    bool body_began;                /* its body began in that pass, so the next call asks for its outcome */
    bool is_repeated;               /* it was called twice in one pass, and that was noted */
};

struct pw_sweep_call {
    struct pw_sweep_step *step;
    enum pawl_step_kind kind;
    const void *place; /* or NULL */
    size_t order;      /* its position in the pass, from 0 */
    bool is_all;       /* it waits for all branches, and its step has no name */
    size_t branches;   /* branches of such a call or of a race; 0: none, or not known */
};

struct pw_sweep_list {
    struct pw_sweep_call *calls;
    size_t count, capacity;
};

struct pw_sweep_lane {
    const char *path; /* "" is the main lane, "2.0" branch 0 of its second fork, and so on */
    struct pw_sweep_list list;
    struct pw_sweep_lane *next;
};

struct pw_sweep_run {
    int64_t instance, number;
    const char *workflow; /* borrowed from the engine */
    bool is_main;         /* the run that the sweep is about */
    struct pw_table steps;
    struct pw_sweep_list recorded;          /* in the order of their first record */
    struct pw_sweep_lane *former, *current; /* the lanes of the last pass, and of this one */
    size_t pass;                            /* from 1 */
    size_t order;                           /* the position of the next call */
    size_t unheeded;                        /* durable calls in this pass after PAWL_SUSPENDED */
    /* The position of the first call whose outcome was seen and then lost in the crash; SIZE_MAX: none. */
    size_t lost_at;
    struct pw_sweep_run *next;
};

struct pw_sweep_play;

struct pw_sweep_watch {
    struct pw_mocks hooks; /* what the engine sees */
    pawl_world *world;
    const struct pw_sweep_play *play; /* the play that it belongs to */
    struct pw_arena arena;
    struct pw_sweep_run *runs;
    struct pw_sweep_run *running; /* the run whose function is being called; NULL: none */

    bool out_of_memory;
    struct pw_sweep_list looping;          /* one of the calls that a pass makes without end */
    bool is_unheeded;                      /* the pass is endless because its code ignores PAWL_SUSPENDED */
    const struct pw_sweep_step *ran_twice; /* the first completed step whose body was begun again */
    struct pw_sweep_list expected, seen;   /* the first difference between two passes */
    bool differs;
    struct pw_sweep_list repeated; /* pairs: for each name used twice in a pass, the first call and the second */
};

/* Watches every workflow of the engine in the play's world. */
void pw_sweep_watch_init(struct pw_sweep_watch *watch, const struct pw_sweep_play *play);
bool pw_sweep_watch_begin(struct pw_sweep_watch *watch);
void pw_sweep_watch_free(struct pw_sweep_watch *watch);
/* True once playing on would only cost time.  The store then refuses everything, so that the play ends. */
bool pw_sweep_has_seen_enough(const struct pw_sweep_watch *watch);
/* The step's row was written, or was lost in the crash. */
void pw_sweep_note_recorded(struct pw_sweep_watch *watch, const struct pw_op_step *op);
void pw_sweep_note_lost(struct pw_sweep_watch *watch, const struct pw_op_step *op);
/* True if both calls ask for the same. */
bool pw_sweep_is_same_call(const struct pw_sweep_call *left, const struct pw_sweep_call *right);
/* The newest run that the sweep is about; NULL: none began. */
const struct pw_sweep_run *pw_sweep_main_run(const struct pw_sweep_watch *watch);

/* The turn function of a watched workflow, which calls the author's code. */
pawl_turn_fn pw_sweep_advance;

/* The address of the author's call that led here, or NULL.  *out_awaits: that call certainly waits for a deferred. */
const void *pw_sweep_place_find(bool *out_awaits);
/* The object that contains the address, and the offset in it.  False if there is none. */
bool pw_sweep_place_tell(const void *place, const char **out_object, uint64_t *out_offset);

/* ---- The store that dies ----------------------------------------------------------------------------------------- */

struct pw_sweep_commit {
    int64_t number;   /* the number of the unit, from 1 */
    const char *text; /* in the arena of the watch */
};

struct pw_sweep_crash {
    struct pw_forward forward;
    struct pw_sweep_watch *watch;
    bool counting;        /* false: it only passes units on */
    int64_t applied;      /* units */
    int64_t crash_at;     /* the number of a unit; 0: never */
    int64_t ended_at;     /* the unit in which the run that the sweep is about ended; 0: none */
    bool after;           /* the crash comes after the unit was applied: only its answer is lost */
    bool dead;            /* the process is dead: every write fails */
    bool crashed;         /* the process has died at some time */
    struct pw_fence held; /* the newest claim, and its owner; owner 0: none */
    int64_t owner;
    struct pw_rows commits; /* struct pw_sweep_commit: the units that changed something */
};

/* Inserts one between the world's trace and its store; it is closed with the world.  NULL when memory runs out. */
struct pw_sweep_crash *pw_sweep_crash_insert(pawl_world *world, struct pw_sweep_watch *watch);

/* ---- One play ---------------------------------------------------------------------------------------------------- */

struct pw_sweep_case {
    int64_t crash_at; /* 0: never */
    bool after;
    bool replays; /* replays at every durable call, with a clock that moves in between */
    bool later;   /* the next process begins a day after the crash */
};

struct pw_sweep_play {
    const struct pawl_sweep_options *options;
    struct pw_sweep_case of;
    const char *where; /* the case in words */
    pawl_world *world;
    struct pw_sweep_crash *crash;
    struct pw_sweep_watch watch;
    const char *endless; /* the world's error text: something is always due */

    /* The outcome, in the world's scope, once the play has ended. */
    const char *outcome;
    const char *error_name, *error_message; /* or NULL */
    const char *unfinished;                 /* or NULL */
    int64_t *instance_counts;
    const char **workflows;
    size_t workflow_count;
};

/* Tells the caller what is being played: the body of this step, or NULL. */
void pw_sweep_tell(const struct pw_sweep_play *play, const char *step);
void pw_sweep_tell_unheeded(const struct pw_sweep_play *play);

/* Plays the case.  The play must be freed even if this fails. */
pawl_status pw_sweep_play_run(struct pw_sweep_play *play, struct pawl_error *error) PAWL_MUST_CHECK;
void pw_sweep_play_free(struct pw_sweep_play *play);

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

struct pw_sweep_findings {
    pawl_scope *scope;
    struct pawl_sweep_finding *rows;
    size_t count, max;
    bool out_of_memory;
};

bool pw_sweep_findings_init(struct pw_sweep_findings *findings, pawl_scope *scope, size_t max);

/* Adds a finding.  The text and the lines live in the scope.  If the finding is known already, only its `times`
 * grows. */
void pw_sweep_add_finding(struct pw_sweep_findings *findings, const struct pawl_sweep_finding *finding);

/* Shows the lists side by side, from a little before the first difference.  False when memory runs out. */
bool pw_sweep_compare(pawl_scope *scope, const struct pw_sweep_list *expected, const struct pw_sweep_list *seen,
                      struct pawl_sweep_finding *finding);

/* Shows two calls with the same name.  False when memory runs out. */
bool pw_sweep_pair(pawl_scope *scope, const struct pw_sweep_call *first, const struct pw_sweep_call *again,
                   struct pawl_sweep_finding *finding);

/* The report as text.  NULL when memory runs out. */
const char *pw_sweep_text(pawl_scope *scope, const struct pawl_sweep_options *options,
                          const struct pawl_sweep_report *report);

#endif
