/* model.h - what the store should hold: plain arrays, changed by every unit of work that was really applied, by rules
 * written down a second time and as simply as can be.
 *
 * sim_model_unit() is told of each unit after the store has answered it.  It says whether the store should have refused
 * it, checks every change against the invariants (fail.h), and then changes the arrays likewise.
 * A number past what the arrays hold ends the process: worlds are small by design. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "program.h"
#include "store/store.h"
#include "transitions.h"

enum {
    SIM_INSTANCES_MAX = 320,
    SIM_RUNS_MAX = 12,
    SIM_EVENTS_MAX = 96,
    SIM_LOGS_MAX = 4096,
    SIM_BODIES_MAX = 4096,
    SIM_EFFECTS_MAX = 1024,
    SIM_DELIVERIES_MAX = 2048,
    SIM_HOOKS_MAX = 2,
    SIM_TEXT_MAX = 120
};

struct sim_step {
    bool exists;
    int64_t seq;
    enum pawl_step_kind kind;
    enum pawl_step_status status;
    enum pawl_step_state state;
    int64_t attempts, attempts_max, timeout_ms, next_retry_at_ms, wake_at_ms, event_at_ms;
    int64_t created_at_ms, updated_at_ms;
    char event_type[SIM_TEXT_MAX], result[SIM_TEXT_MAX], error_name[SIM_TEXT_MAX];
    enum pawl_fork_kind fork_kind;
    int64_t branch, order;
    uint64_t outer; /* a digest */
    char fork[SIM_TEXT_MAX];
    char undoes[SIM_TEXT_MAX], awaited_workflow[SIM_TEXT_MAX], awaited_id[SIM_TEXT_MAX];
    uint64_t error_message; /* its digest */
    /* Not stored. */
    int bodies;              /* started */
    int goes;                /* that are over: so often a repair put it back */
    int64_t attempts_before; /* recorded in those */
    bool is_kept;            /* from the run before */
    uint64_t finished;       /* the unit that did, counted from 1 */
    uint64_t put_back;       /* the same, of the last repair */
};

struct sim_event {
    bool exists; /* a demand leaves a number without an event */
    char id[SIM_TEXT_MAX], type[SIM_TEXT_MAX], payload[SIM_TEXT_MAX];
    bool is_failure;
    int64_t created_at_ms, delivered_at_ms;
    int consumed_by; /* node, or SIM_NONE */
};

/* What is kept of a run that a restart has replaced. */
struct sim_earlier {
    enum pw_outcome outcome;
    char output[SIM_TEXT_MAX], error_name[SIM_TEXT_MAX], error_message[SIM_TEXT_MAX];
    int64_t started_at_ms, completed_at_ms, replaced_at_ms;
};

struct sim_run {
    struct sim_step steps[SIM_STEPS_MAX]; /* by node, and those of sim_node_of() behind them */
    int step_count;
    struct sim_event events[SIM_EVENTS_MAX]; /* by seq - 1 */
    int event_count;                         /* numbers given */
    int event_rows;                          /* of these, those of an event */
    uint64_t *logs;                          /* digests, by seq - 1; grows */
    int log_count, log_room;
    uint32_t logged; /* nodes whose line was recorded as new */
    /* The turns of the run. */
    int claims, closings, expiries;
    int64_t taken_epoch; /* the turn of this epoch, and those before, had their lease taken; -1: none had */
    bool pause_told;
    enum pw_outcome outcome; /* also when another run has followed */
    uint32_t
        handed_back; /* nodes whose line was in a unit that was refused: others may be recorded before it is again */
    struct sim_earlier earlier; /* when another run has followed */
    int64_t kept_before_seq;    /* it keeps what the run before recorded up to there; 0: nothing */
};

struct sim_task {
    bool exists;
    int64_t epoch, due_at_ms, owner, locked_until_ms, started_at_ms, updated_at_ms, event_seq;
    enum pw_task_status status;
    enum pw_task_kind kind;
    bool processing, pause_requested;
    enum pw_demand demand;
};

/* How somebody has seen a lease; see src/store/sqlite/sightings.h. */
struct sim_sighting {
    bool exists;
    int64_t owner, epoch, locked_until_ms;
    int64_t since_ms, left_ms; /* by the monotonic clock; how long it was to last then */
    int64_t lease_ms;          /* of who wanted it last; 0: nobody has */
};

/* What may be so of an instance, and what clients are told to be. */
enum sim_truth {
    SIM_TRUTH_PAUSED,
    SIM_TRUTH_RESUMED,
    SIM_TRUTH_TERMINATED,
    SIM_TRUTH_OVER,
    SIM_TRUTH_INTERRUPTED, /* or over */
    SIM_TRUTH_DEMANDED,
    SIM_TRUTH_NOT_ERRORED,
    SIM_TRUTH_COUNT
};

struct sim_instance {
    int64_t key;
    char workflow[SIM_TEXT_MAX], id[SIM_TEXT_MAX], params[SIM_TEXT_MAX], output[SIM_TEXT_MAX];
    char error_name[SIM_TEXT_MAX], error_message[SIM_TEXT_MAX];
    int64_t run;
    enum pw_outcome outcome;
    int64_t created_at_ms, updated_at_ms, started_at_ms, completed_at_ms;
    struct sim_task task;
    struct sim_sighting sighting;
    struct pw_link link;
    struct sim_standing standing;     /* after the last unit that moved it */
    uint64_t truths[SIM_TRUTH_COUNT]; /* the newest unit after which it was so, counted from 1 */
    const struct sim_program *program;
    struct sim_run runs[SIM_RUNS_MAX]; /* by run - 1 */
};

/* One execution of a body.  Its number is its result, so a row says which execution it records. */
enum sim_body_end { SIM_BODY_RUNNING, SIM_BODY_OK, SIM_BODY_FAILED, SIM_BODY_FAILED_FOR_GOOD, SIM_BODY_CUT_OFF };
struct sim_body {
    int64_t instance, run;
    int node;
    int go; /* of its step */
    int64_t attempt;
    enum sim_body_end end;
    /* By the monotonic clock. */
    int64_t deadline_ms;
    int64_t returned_at_ms; /* when it came back */
    int64_t ended_at_ms;    /* when the engine had taken notice */
};

/* A hook, as every process of a world with hooks registers it. */
struct sim_hook {
    const char *name;
    unsigned events;
    int64_t attempts_max, delay_ms, lease_ms;
};

/* What a hook said to an attempt. */
enum sim_saying { SIM_SAYING_NONE, SIM_SAYING_YES, SIM_SAYING_NOT_NOW, SIM_SAYING_NEVER };

struct sim_delivery {
    bool exists; /* delivered ones stay in the model */
    char id[SIM_TEXT_MAX];
    int hook;
    enum pawl_hook_event event;
    enum pw_hook_reason reason;
    enum pw_outcome outcome;
    char error_name[SIM_TEXT_MAX], error_message[SIM_TEXT_MAX];
    int64_t instance, run, due_at_ms, created_at_ms;
    int64_t key; /* 0: not seen yet */
    int64_t attempts, next_at_ms, locked_until_ms, epoch;
    bool has_error;
    /* Not stored: what was said to the attempt of that epoch. */
    enum sim_saying saying;
    int64_t said_epoch, said_at_ms;
    bool was_told, was_refused; /* once or more; for good, by the hook */
    uint64_t resent;            /* the unit that did it last, counted from 1 */
};

struct sim_model {
    uint64_t *transitions; /* how often each was seen; the world's */
    uint64_t units;        /* that were applied so far */
    bool has_hooks;
    const struct sim_program *programs;
    int64_t start_ms;
    bool was_set_back; /* the clock */
    int64_t latest_ms; /* that the clock has ever shown: what is decided may be committed when it was set back */
    int64_t monotonic_ms;
    void *world;
    bool (*lives)(void *world, int64_t owner); /* has a runner of that number been announced, and not withdrawn? */
    struct sim_instance instances[SIM_INSTANCES_MAX]; /* in the order of their keys, which have gaps */
    int instance_count;
    struct sim_body bodies[SIM_BODIES_MAX];
    int body_count;
    char effects[SIM_EFFECTS_MAX][SIM_TEXT_MAX]; /* rows of sim_effect, in order */
    int effect_count;
    char uniques[SIM_EFFECTS_MAX][SIM_TEXT_MAX]; /* rows of sim_unique */
    int unique_count;
    struct sim_delivery deliveries[SIM_DELIVERIES_MAX]; /* in the order of their keys */
    int delivery_count;
};

/* What a mutation of a body carries: the row to insert, and whether it is to fail. */
struct sim_mutation {
    char tag[SIM_TEXT_MAX];
    bool fails;
    bool in_memory; /* the store is the one of tests/memory */
};

void sim_model_reset(struct sim_model *model, const struct sim_program *programs, int64_t start_ms);

struct sim_instance *sim_model_find(struct sim_model *model, const char *workflow, const char *id);
struct sim_instance *sim_model_by_key(struct sim_model *model, int64_t key); /* or NULL */
struct sim_run *sim_model_run(struct sim_instance *instance, int64_t run);
/* The fence's task is as the fence says. */
bool sim_model_holds(struct sim_model *model, const struct pw_fence *fence);

/* As a look at it would say. */
enum pawl_instance_status sim_status_of(const struct sim_instance *instance);
/* A pause is asked for, which its turn has yet to reach. */
bool sim_is_pausing(const struct sim_instance *instance);
/* A step failed for good, and somebody is to mend what is wrong, and resume it. */
bool sim_awaits_repair(const struct sim_instance *instance);

/* owners: the runners of the process that committed the unit. */
void sim_model_unit(struct sim_model *model, const struct pw_unit *unit, int64_t now_ms, const int64_t *owners,
                    int owner_count);

/* A body is about to start. */
struct sim_start {
    const struct pw_fence *fence;
    int node;
    int64_t attempt, now_ms;
    int64_t deadline_ms;  /* by the monotonic clock */
    int64_t looked_at_ms; /* when its process last looked at that clock */
    int64_t lease_ms;
};
/* Answers its number. */
int sim_model_body_starts(struct sim_model *model, const struct sim_start *start);

/* When the first task is due or the first lease can be taken; INT64_MAX: never. */
int64_t sim_model_next_due(const struct sim_model *model, int64_t now_ms);
/* The same for whoever has this share of "alpha" and "beta". */
int64_t sim_model_next_of_share(const struct sim_model *model, const struct pw_share *share, int64_t now_ms);

/* claims.c: somebody sees the lease, and may want it for lease_ms (0: no).  May it be taken? */
bool sim_see_lease(const struct sim_model *model, struct sim_instance *instance, int64_t lease_ms, int64_t now_ms);
/* Somebody sees every lease that runners have. */
void sim_apply_reap(struct sim_model *model, int64_t now_ms);
/* How much longer an expired lease must be seen. */
int64_t sim_lease_wait_ms(const struct sim_model *model, const struct sim_instance *instance);
/* When one that is due at that time is the share's. */
int64_t sim_share_begins(const struct sim_instance *instance, const struct pw_share *share, int64_t due_at_ms);

bool sim_step_is_finished(const struct sim_step *step);
/* It lost a race, or its job was out when the run was interrupted: nobody says how it ended. */
bool sim_step_is_abandoned(const struct sim_step *step);
/* "n7" is 7, "c7" and "compensate: n7" are past the nodes; "call", the step of a job, is 0.  SIM_NONE: no step's name. */
int sim_node_of(struct pw_text name);
/* The other way round; answers its size. */
enum { SIM_NAME_SIZE = 24 };
size_t sim_name_of(int position, char name[SIM_NAME_SIZE]);
/* The node of a position that sim_node_of() answers. */
static inline int sim_node_at(int position)
{
    return position % SIM_NODES_MAX;
}
static inline bool sim_is_await(int position)
{
    return position / SIM_NODES_MAX == 1;
}
static inline bool sim_is_undo(int position)
{
    return position / SIM_NODES_MAX == 2;
}
bool sim_is_job(const struct sim_instance *instance);
void sim_text_copy(char to[SIM_TEXT_MAX], struct pw_text from);
uint64_t sim_digest(uint64_t digest, const void *data, size_t size);
uint64_t sim_digest_text(uint64_t digest, struct pw_text text);
uint64_t sim_digest_log(const struct pw_log_row *row);

/* ---- Leases: claims.c --------------------------------------------------------------------------------------------- */

/* Its newest time, which never goes back. */
void sim_task_touch(struct sim_task *task, int64_t now_ms);
void sim_take_task(struct sim_instance *instance, int64_t owner, int64_t lease_ms, int64_t now_ms);
void sim_apply_claim(struct sim_model *model, const struct pw_op_claim *op, int64_t now_ms);
void sim_apply_renew(struct sim_model *model, const struct pw_op_renew *op, int64_t now_ms);

/* ---- What hooks are to be told: deliveries.c ------------------------------------------------------------------------- */

extern const struct sim_hook sim_hooks[SIM_HOOKS_MAX];
struct sim_delivery *sim_delivery_of(struct sim_model *model, const char *id);
/* After the other ops of the unit: has it recorded what it should have?  Adds the rows. */
void sim_apply_hooks(struct sim_model *model, const struct pw_unit *unit, int64_t now_ms);
void sim_apply_hook_claim(struct sim_model *model, const struct pw_op_hook_claim *op, int64_t now_ms);
void sim_apply_hook_settle(struct sim_model *model, const struct pw_op_hook_settle *op);
void sim_apply_hook_resend(struct sim_model *model, const struct pw_op_hook_resend *op, int64_t now_ms);
/* When the first delivery of these hooks (a bit each) is due, or its lease ends; INT64_MAX: never. */
int64_t sim_model_next_delivery(const struct sim_model *model, unsigned hooks);
/* Every one was made, or has failed for good. */
void sim_check_deliveries(const struct sim_model *model);

/* ---- Checks of single rows: checks.c ---------------------------------------------------------------------------- */

/* The step of the run is about to become `row`, in this unit. */
void sim_check_step(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_step *op);
void sim_check_consume(struct sim_model *model, const struct pw_op_consume *op);
void sim_check_park(struct sim_model *model, const struct pw_op_park *op, int64_t now_ms);
/* After the unit was applied: of the decided races in the runs whose steps it changed. */
void sim_check_races(struct sim_model *model, const struct pw_unit *unit);
void sim_check_finish(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_finish *op,
                      int64_t now_ms);
/* After the unit was applied: what became of those that it ended is told to their parents, and done to their children. */
/* How the op ends a run; NULL: it ends none, or only a job. */
const struct pw_op_finish *sim_finish_of(const struct pw_op *op);
void sim_check_links(struct sim_model *model, const struct pw_unit *unit);

/* ---- Runs that are taken up where they stopped: repairs.c -------------------------------------------------------- */

/* Another attempt could go otherwise: work that failed for good. */
bool sim_can_be_mended(const struct sim_step *step);
/* Somebody else than a turn is about to change the step. */
void sim_check_put_back(struct sim_model *model, const struct pw_op_step *op);
/* Before the unit is applied: how many steps it is to put back. */
int sim_count_failed(struct sim_model *model, const struct pw_unit *unit);
/* Afterwards: are these all? */
void sim_check_resume(const struct pw_unit *unit, int failed);
/* The task is as it was left. */
void sim_check_awaits(struct sim_model *model, const struct pw_unit *unit, const struct pw_op_park *op);
/* Of a restart that keeps steps: may it, and are they the right ones? */
void sim_check_kept(struct sim_instance *instance, const struct pw_op_restart *op);

/* ---- What columns say: states.c ------------------------------------------------------------------------------------- */

void sim_check_state(const struct pw_step_row *row);
/* Of a new step. */
void sim_check_place(const struct sim_program *program, const struct pw_step_row *row);

/* ---- The pure reading of a program: reading.c -------------------------------------------------------------------- */

enum sim_reading { SIM_READ_OK, SIM_READ_FAILED, SIM_READ_UNFINISHED };

/* How the node ends, by the rows of the run.  The digest is of everything that the workflow was told on its way. */
enum sim_reading sim_read_node(const struct sim_model *model, const struct sim_instance *instance,
                               const struct sim_run *run, int node, uint64_t *digest);

/* The nodes that a program which went as far as the rows say was told of, and may have to undo: a bit each. */
uint64_t sim_read_told(const struct sim_instance *instance, const struct sim_run *run);

/* Does the program stand before work that failed for good, in one of its branches? */
bool sim_read_awaits_repair(const struct sim_instance *instance, const struct sim_run *run);

/* Both sides build digests with these. */
uint64_t sim_digest_told(uint64_t digest, int node, bool done, const char *result, const char *error_name);
uint64_t sim_digest_node(uint64_t digest, uint64_t of_node);

#endif
