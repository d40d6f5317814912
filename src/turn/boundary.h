/* boundary.h - turning what happened into units of work.  All with the turn's lock held. */
#ifndef PW_TURN_BOUNDARY_H
#define PW_TURN_BOUNDARY_H

#include "service/service.h"
#include "turn/inside.h"

enum pw_mutation_kind { PW_MUTATION_SQL, PW_MUTATION_CALL, PW_MUTATION_CREATE, PW_MUTATION_EVENT };

/* Something registered in a step; in the turn's arena. */
struct pw_mutation {
    enum pw_mutation_kind kind;
    enum pawl_mutation_when when;
    struct pw_text sql, parameters; /* SQL */
    pawl_mutation_fn *call;         /* CALL */
    struct pw_text data;            /* CALL */
    struct pw_text workflow, id;    /* CREATE, EVENT */
    struct pw_text type, payload;   /* EVENT; CREATE uses payload for its params */
    enum pw_relation relation;      /* CREATE */
    struct pw_mutation *next;
};

/* A job: its function's name as a workflow's, "@" before it; its id; and, of one that is made, its params. */
struct pw_job {
    struct pw_text workflow, id, params;
};

struct pw_boundary {
    pawl_lane *lane;
    struct pw_step *step;
    const struct pw_mutation *mutations; /* those of `when` are taken */
    enum pawl_mutation_when when;
    struct pw_event *event;     /* taken by the step, or NULL */
    bool unless_new_events;     /* the outcome holds only if no event came meanwhile */
    bool announces;             /* whoever has read the run's steps, and does not know this one, is to read again */
    const struct pw_job *makes; /* or NULL */
    const struct pw_job *ends;  /* or NULL */
    struct pw_log_list logs;    /* besides the turn's own */
    struct pw_log_list verdict; /* the engine's own lines about this outcome: true only with it */
};

/* Submits the step's row as it stands.  PAWL_OK, PAWL_NOMEM (the turn is over), or why a mutation cannot be: nothing was
 * submitted then, and the lane's error says more. */
pawl_status pw_boundary_record(const struct pw_boundary *boundary) PAWL_MUST_CHECK;

/* How an attempt has ended. */
struct pw_attempt_outcome {
    int64_t attempt;
    const struct pawl_policy *policy;
    const struct pw_mutation *mutations;
    struct pw_log_list logs;
    struct pw_event *event;     /* that told of it, or NULL */
    struct pw_text result;      /* success */
    pawl_status why;            /* failure */
    const char *name, *message; /* NULL: those of `why` */
    bool may_retry;
    const struct pw_job *ends; /* the job that outlived its timeout, unless an event came meanwhile; or NULL */
};
/* Fills the step's row and submits, with what was registered for success.  A mutation that cannot be (no such workflow, no such
 * instance) fails the step for good. */
pawl_status pw_boundary_complete(pawl_lane *lane, struct pw_step *step,
                                 const struct pw_attempt_outcome *success) PAWL_MUST_CHECK;
/* Fills the step's row (retry or failed for good), logs the failure, and submits.  A mutation that cannot be is left out, and
 * logged. */
pawl_status pw_boundary_fail(pawl_lane *lane, struct pw_step *step,
                             const struct pw_attempt_outcome *failure) PAWL_MUST_CHECK;
/* The winner of a race: its row, and those of the waits that are abandoned with the losers' lanes. */
pawl_status pw_boundary_choose(pawl_lane *lane, struct pw_step *step, size_t winner) PAWL_MUST_CHECK;

/* The closing unit (T4).  The op is a PARK with its status, kind and due_at_ms, or a FINISH with its outcome, the texts,
 * demand_seen, and reach.demand, which goes to attached children.  The rest is filled in here. */
pawl_status pw_boundary_close(pawl_turn *turn, const struct pw_op *closing) PAWL_MUST_CHECK;
/* A unit without changes, but for log lines.  Its answer arrives after the answers to all earlier units.  lease_ms not 0: it also
 * renews the lease, for that long. */
pawl_status pw_boundary_submit_empty(pawl_turn *turn, int64_t lease_ms) PAWL_MUST_CHECK;

/* answers.c: the job that a call has out; false: none. */
bool pw_job_of_step(const struct pw_step *step, struct pw_job *out_job);

/* A copy of the row with all its texts, since a line may outlive the history.  NULL when memory is out. */
struct pw_log_line *pw_log_line_new(pawl_turn *turn, const struct pw_log_row *row);
/* Appends a line of the engine's own, category "system", to the list. */
bool pw_log_system(pawl_turn *turn, struct pw_log_list *logs, enum pawl_log_level level, struct pw_text step,
                   int64_t attempt, const char *format, ...) PAWL_PRINTF(6, 7);
void pw_log_append(struct pw_log_list *logs, struct pw_log_line *line);
void pw_log_join(struct pw_log_list *logs, const struct pw_log_list *more);

#endif
