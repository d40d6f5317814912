/* sweep.h (internal) - the parts of a crash sweep (include/pawl/testing.h).
 *
 *   sweep_crash.c   a store that dies at a chosen commit
 *   sweep_watch.c   what workflow functions do, pass by pass, and whether they do it again
 *   sweep_place.c   where in the program a durable call stands
 *   sweep_play.c    one run of the script, in a world of its own
 *   sweep_report.c  the findings, and the text about them
 *   sweep.c         which cases are played, and what is asked of each
 *
 * The calling thread drives all of it.  If memory runs out in a callback, the watch remembers that, and the play reports it
 * when it is over. */
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
    const struct pw_sweep_run *run; /* that it belongs to */
    bool recorded, finished;        /* in the store */
    const void *place;              /* of the newest call, or NULL */
    size_t pass;                    /* the pass in which it was called last; 0: none */
    enum pawl_step_kind first_kind; /* of the first call in that pass */
    const void *first_place;        /* likewise */
    bool body_began;                /* in that pass: the next call asks for its outcome */
    bool is_repeated;               /* it was called twice in one pass, which is noted */
};

struct pw_sweep_call {
    struct pw_sweep_step *step;
    enum pawl_step_kind kind;
    const void *place; /* or NULL */
    size_t order;      /* in the pass, from 0 */
    bool is_all;       /* it waits for all branches, and its step has no name */
    size_t branches;   /* of such a call, or of a race; 0: none, or not known */
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
    const char *workflow; /* the engine's */
    bool is_main;         /* the run that the sweep is about */
    struct pw_table steps;
    struct pw_sweep_list recorded;          /* in the order of their first record */
    struct pw_sweep_lane *former, *current; /* of the last pass, and of this one */
    size_t pass;                            /* from 1 */
    size_t order;                           /* of the next call */
    size_t unheeded;                        /* calls in this pass after PAWL_SUSPENDED was answered */
    size_t lost_at; /* the order of the first call whose outcome was told and then lost; SIZE_MAX: none was */
    struct pw_sweep_run *next;
};

struct pw_sweep_play;

struct pw_sweep_watch {
    struct pw_mocks hooks; /* as the engine sees them */
    pawl_world *world;
    const struct pw_sweep_play *play; /* the play that it belongs to */
    struct pw_arena arena;
    struct pw_sweep_run *runs;
    struct pw_sweep_run *running; /* the run whose function is being called; NULL: none */

    bool out_of_memory;
    struct pw_sweep_list looping;          /* one pass makes calls without end, this one among them */
    bool is_unheeded;                      /* and that because it does not heed PAWL_SUSPENDED */
    const struct pw_sweep_step *ran_twice; /* the first completed step whose body was begun again */
    struct pw_sweep_list expected, seen;   /* the first difference between two passes */
    bool differs;
    struct pw_sweep_list repeated; /* for each name that came twice in a pass: the first call, and the second */
};

/* Watches every workflow of the engine in the play's world. */
void pw_sweep_watch_init(struct pw_sweep_watch *watch, const struct pw_sweep_play *play);
bool pw_sweep_watch_begin(struct pw_sweep_watch *watch);
void pw_sweep_watch_free(struct pw_sweep_watch *watch);
/* True once going on would only cost time.  The store then refuses everything, so that the play ends. */
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

/* The address of the author's call that led here, or NULL; and whether it surely waits for a deferred. */
const void *pw_sweep_place_find(bool *out_awaits);
/* The object that the address is in, and the place in it.  False where there is none. */
bool pw_sweep_place_tell(const void *place, const char **out_object, uint64_t *out_offset);

/* ---- The store that dies ------------------------------------------------------------------------------------------- */

struct pw_sweep_commit {
    int64_t number;   /* of the unit, from 1 */
    const char *text; /* in the arena of the watch */
};

struct pw_sweep_crash {
    struct pw_forward forward;
    struct pw_sweep_watch *watch;
    bool counting;        /* otherwise it only passes units on */
    int64_t applied;      /* units */
    int64_t crash_at;     /* the number of a unit; 0: never */
    int64_t ended_at;     /* the unit in which the run that the sweep is about ended; 0: none */
    bool after;           /* the unit is applied, and only its answer is lost */
    bool dead;            /* everything fails, because the process is gone */
    bool crashed;         /* it is dead, or was */
    struct pw_fence held; /* the newest claim, and whose it is; owner 0: none */
    int64_t owner;
    struct pw_rows commits; /* struct pw_sweep_commit: those that changed something */
};

/* Puts one between the world and its store, which is closed with the world.  NULL when memory is out. */
struct pw_sweep_crash *pw_sweep_crash_insert(pawl_world *world, struct pw_sweep_watch *watch);

/* ---- One play ------------------------------------------------------------------------------------------------------ */

struct pw_sweep_case {
    int64_t crash_at; /* 0: never */
    bool after;
    bool replays; /* every durable call, with a clock that moves on in between */
    bool later;   /* the next process begins a day after the crash */
};

struct pw_sweep_play {
    const struct pawl_sweep_options *options;
    struct pw_sweep_case of;
    const char *where; /* the case in words */
    pawl_world *world;
    struct pw_sweep_crash *crash;
    struct pw_sweep_watch watch;
    const char *endless; /* the world's words: something is always due */

    /* The outcome, in the world's scope, once it has ended. */
    const char *outcome;
    const char *error_name, *error_message; /* or NULL */
    const char *unfinished;                 /* or NULL */
    int64_t *instance_counts;
    const char **workflows;
    size_t workflow_count;
};

/* Tells the caller what is being played: the body of that step, or NULL. */
void pw_sweep_tell(const struct pw_sweep_play *play, const char *step);
void pw_sweep_tell_unheeded(const struct pw_sweep_play *play);

/* Free it also when this fails. */
pawl_status pw_sweep_play_run(struct pw_sweep_play *play, struct pawl_error *error) PAWL_MUST_CHECK;
void pw_sweep_play_free(struct pw_sweep_play *play);

/* ---- Findings -------------------------------------------------------------------------------------------------------- */

struct pw_sweep_findings {
    pawl_scope *scope;
    struct pawl_sweep_finding *rows;
    size_t count, max;
    bool out_of_memory;
};

bool pw_sweep_findings_init(struct pw_sweep_findings *findings, pawl_scope *scope, size_t max);

/* The text and the lines are the scope's.  Of one that is there already, only `times` grows. */
void pw_sweep_add_finding(struct pw_sweep_findings *findings, const struct pawl_sweep_finding *finding);

/* The lists side by side, from a little before the first difference.  False when memory is out. */
bool pw_sweep_compare(pawl_scope *scope, const struct pw_sweep_list *expected, const struct pw_sweep_list *seen,
                      struct pawl_sweep_finding *finding);

/* Two calls of one name.  False when memory is out. */
bool pw_sweep_pair(pawl_scope *scope, const struct pw_sweep_call *first, const struct pw_sweep_call *again,
                   struct pawl_sweep_finding *finding);

/* NULL when memory is out. */
const char *pw_sweep_text(pawl_scope *scope, const struct pawl_sweep_options *options,
                          const struct pawl_sweep_report *report);

#endif
