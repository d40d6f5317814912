/* boundary.h - turns what happened on a lane into units of work, and submits them.  All with the turn's lock held.
 *
 * The *boundary* of a step is the unit that records its row: an outcome, a wait, or a failed attempt.  Nothing here
 * waits for a commit; the answer to a unit arrives on the committing thread (boundary.c). */
#ifndef PW_TURN_BOUNDARY_H
#define PW_TURN_BOUNDARY_H

#include "service/service.h"
#include "turn/inside.h"

enum pw_mutation_kind { PW_MUTATION_SQL, PW_MUTATION_CALL, PW_MUTATION_CREATE, PW_MUTATION_EVENT };

/* A change that a step's body registered, to be made in the transaction that records the step's outcome.  Lives in
 * the turn's arena. */
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

/* A job: the workflow name of its function ("@" and the function's name), its id and, for a new job, its params. */
struct pw_job {
    struct pw_text workflow, id, params;
};

struct pw_boundary {
    pawl_lane *lane;
    struct pw_step *step;
    const struct pw_mutation *mutations; /* the unit includes those that were registered for `when` */
    enum pawl_mutation_when when;
    struct pw_event *event; /* the event that the step consumes, or NULL */
    bool unless_new_events; /* the unit is refused if an event came that the turn has not seen (T3) */
    /* Raises the run's event number, so that an edit that read the run before is refused. */
    bool announces;
    const struct pw_job *makes; /* or NULL */
    const struct pw_job *ends;  /* or NULL */
    struct pw_log_list logs;    /* lines of the attempt */
    struct pw_log_list verdict; /* the engine's lines about this outcome; dropped if the unit is refused */
};

/* Submits the step's row as it is.  PAWL_OK, PAWL_NOMEM (the turn is over), or the reason why a mutation is
 * impossible: then nothing was submitted, and the lane's error says more. */
pawl_status pw_boundary_record(const struct pw_boundary *boundary) PAWL_MUST_CHECK;

/* How an attempt ended. */
struct pw_attempt_outcome {
    int64_t attempt;
    const struct pawl_policy *policy;
    const struct pw_mutation *mutations;
    struct pw_log_list logs;
    struct pw_event *event;     /* the event that brought the outcome, or NULL */
    struct pw_text result;      /* success */
    pawl_status why;            /* failure */
    const char *name, *message; /* NULL: those of `why` */
    bool may_retry;
    /* A job to end with this failure; the failure holds only if no event came meanwhile; or NULL. */
    const struct pw_job *ends;
};
/* Completes the step: fills its row and submits it together with the mutations registered for success.  An
 * impossible mutation (no such workflow, no such instance) fails the step for good. */
pawl_status pw_boundary_complete(pawl_lane *lane, struct pw_step *step,
                                 const struct pw_attempt_outcome *success) PAWL_MUST_CHECK;
/* Fails the attempt: fills the step's row (a retry, or failed for good), logs the failure and submits.  An
 * impossible mutation is left out and logged. */
pawl_status pw_boundary_fail(pawl_lane *lane, struct pw_step *step,
                             const struct pw_attempt_outcome *failure) PAWL_MUST_CHECK;
/* Records the winner of a race together with the abandoned waits of the losers' lanes. */
pawl_status pw_boundary_choose(pawl_lane *lane, struct pw_step *step, size_t winner) PAWL_MUST_CHECK;

/* Submits the closing unit (T4).  The op is a PARK with its status, kind and due_at_ms, or a FINISH with its
 * outcome, texts, demand_seen and reach.demand (passed on to attached children).  The other fields are filled in
 * here. */
pawl_status pw_boundary_close(pawl_turn *turn, const struct pw_op *closing) PAWL_MUST_CHECK;
/* Submits a unit that changes nothing but adds pending log lines.  Its answer arrives after the answers to all
 * earlier units.  If lease_ms is not 0, the unit also renews the lease for that long. */
pawl_status pw_boundary_submit_empty(pawl_turn *turn, int64_t lease_ms) PAWL_MUST_CHECK;

/* answers.c: the pending job of a call.  False if it has none. */
bool pw_job_of_step(const struct pw_step *step, struct pw_job *out_job);

/* Copies the row with all its texts, because a line may outlive the history.  NULL when memory runs out. */
struct pw_log_line *pw_log_line_new(pawl_turn *turn, const struct pw_log_row *row);
/* Appends one of the engine's own lines (category "system") to the list.  False when memory runs out. */
bool pw_log_system(pawl_turn *turn, struct pw_log_list *logs, enum pawl_log_level level, struct pw_text step,
                   int64_t attempt, const char *format, ...) PAWL_PRINTF(6, 7);
void pw_log_append(struct pw_log_list *logs, struct pw_log_line *line);
void pw_log_join(struct pw_log_list *logs, const struct pw_log_list *more);

#endif
