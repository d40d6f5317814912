/* testing.h - a simulated world for testing workflows: simulated time, seeded randomness, no threads, no real
 * waiting.
 *
 *     pawl_world *world;
 *     pawl_world_open(NULL, &world, &error);
 *     pawl_register(pawl_world_engine(world), &order, &error);
 *     pawl_world_create(world, "order", "o-1", "{\"sku\": \"teapot\"}", &error);
 *     pawl_world_run_until_idle(world, &error);
 *     pawl_world_advance(world, "1 hour", &error);           ... and what was due has run
 *     pawl_world_get(world, "order", "o-1", &instance, &error);
 *
 * The engine inside is the real one: everything in service.h and runner.h works on it.  The same seed gives the same
 * ids and the same order of everything.  Answers live in the world's scope, which is freed when the world is closed. */
#ifndef PAWL_TESTING_H
#define PAWL_TESTING_H

#include "runner.h"
#include "service.h"
#include "workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_world pawl_world;

struct pawl_world_options {
    size_t struct_size;
    uint64_t seed;
    const char *store_url;     /* NULL: "sqlite::memory:" */
    int64_t start_ms;          /* 0: 2026-01-01T00:00:00.000Z */
    bool always_replay;        /* every turn replays from the store, so that nondeterminism shows */
    bool disable_sleeps;       /* sleeps end at once */
    struct pawl_limits limits; /* zero: the defaults */
};
/* clang-format off */
#define PAWL_WORLD_OPTIONS_INIT { sizeof(struct pawl_world_options), 0, NULL, 0, false, false, { 0, 0, 0, 0 } }
/* clang-format on */

/* options NULL: all defaults. */
PAWL_API pawl_status pawl_world_open(const struct pawl_world_options *options, pawl_world **out_world,
                                     struct pawl_error *error) PAWL_MUST_CHECK;
/* NULL is fine. */
PAWL_API void pawl_world_close(pawl_world *world);

/* Borrowed until the world is closed. */
PAWL_API pawl_engine *pawl_world_engine(pawl_world *world);
PAWL_API pawl_runner *pawl_world_runner(pawl_world *world);
PAWL_API pawl_scope *pawl_world_scope(pawl_world *world);

/* ---- Time ------------------------------------------------------------------------------------------------------- */

PAWL_API int64_t pawl_world_now_ms(const pawl_world *world);

/* Advances the clock by a duration ("1 hour", "250 ms").  Stops whenever something is due and runs it at its time,
 * the end of the duration included. */
PAWL_API pawl_status pawl_world_advance(pawl_world *world, const char *duration,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* Lets time pass and runs nothing.  A negative value acts like pawl_world_set_clock_ms(), because time that has
 * passed cannot return. */
PAWL_API void pawl_world_jump_ms(pawl_world *world, int64_t by_ms);

/* Sets wall time forward or back, as people and time servers do, while no time passes.  Sleeps, retries and waits
 * end by wall time, so they end sooner or later.  Bodies do not time out because of it, and runners lose no lease. */
PAWL_API void pawl_world_set_clock_ms(pawl_world *world, int64_t by_ms);

/* ---- Running ------------------------------------------------------------------------------------------------------ */

/* Runs one due turn.  out_processed (or NULL): 0 if none was due. */
PAWL_API pawl_status pawl_world_tick(pawl_world *world, int64_t *out_processed,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* Runs until nothing is due now.  PAWL_BUSY if that takes more than 100,000 turns. */
PAWL_API pawl_status pawl_world_run_until_idle(pawl_world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* Like pawl_world_run_until_idle(), then moves the clock to the next time at which something is due, until nothing
 * is due ever. */
PAWL_API pawl_status pawl_world_run_to_end(pawl_world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Shorthands of service.h ---------------------------------------------------------------------------------------- */

/* id and params may be NULL.  Returns once the instance is created; runs nothing. */
PAWL_API pawl_status pawl_world_create(pawl_world *world, const char *workflow, const char *id, const char *params_json,
                                       struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_send_event(pawl_world *world, const char *workflow, const char *id, const char *type,
                                           const char *payload_json, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_get(pawl_world *world, const char *workflow, const char *id,
                                    struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;
/* Reads all steps, events and logs of the run (0: the current one), however many there are. */
PAWL_API pawl_status pawl_world_history(pawl_world *world, const char *workflow, const char *id, int64_t run_number,
                                        struct pawl_history *out_history, struct pawl_error *error) PAWL_MUST_CHECK;
/* The step of that name in the current run.  NULL: there is none, or an error occurred. */
PAWL_API const struct pawl_step_record *pawl_world_step(pawl_world *world, const char *workflow, const char *id,
                                                        const char *step);

/* ---- Deferreds, by their names ----------------------------------------------------------------------------------------- */

/* Finds the token of a deferred of the current run.  PAWL_INVALID_STEP_NAME: the run has not asked for the token
 * yet.  The token belongs to the world. */
PAWL_API pawl_status pawl_world_deferred_token(pawl_world *world, const char *workflow, const char *id,
                                               const char *deferred, const char **out_token,
                                               struct pawl_error *error) PAWL_MUST_CHECK;
/* As pawl_deferred_succeed() and pawl_deferred_fail() with that token. */
PAWL_API pawl_status pawl_world_deferred_succeed(pawl_world *world, const char *workflow, const char *id,
                                                 const char *deferred, const char *result_json,
                                                 struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_deferred_fail(pawl_world *world, const char *workflow, const char *id,
                                              const char *deferred, const char *error_name, const char *error_message,
                                              struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Mocks: what a step does instead of running its body.  All texts are copied. --------------------------------------- */

/* Applies to `times` attempts (0: always) of this workflow (NULL: any).  If a step has several mocks, the newest is
 * used first. */
PAWL_API pawl_status pawl_world_mock_result(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                            const char *result_json, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_mock_failure(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                             const char *error_name, const char *error_message, bool may_retry,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_mock_timeout(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API void pawl_world_unmock(pawl_world *world);

/* ---- Trace --------------------------------------------------------------------------------------------------------------- */

/* Everything that was committed, refused or woken, and every HTTP authorization, one line each with its time.  Valid
 * until the next call on the world. */
PAWL_API const char *pawl_world_trace(pawl_world *world);

/* ---- The test's own tables, in the world's database ---------------------------------------------------------------------------- */

/* Runs one statement in a transaction of its own. */
PAWL_API pawl_status pawl_world_sql(pawl_world *world, const char *sql, struct pawl_error *error) PAWL_MUST_CHECK;
/* Like pawl_world_sql(), with a function, which may also read. */
PAWL_API pawl_status pawl_world_mutate(pawl_world *world, pawl_mutation_fn *mutate, const void *data, size_t size,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Crash sweeps ------------------------------------------------------------------------------------------------------------ */

/* A sweep runs a workflow many times, each time in a fresh world:
 *   - undisturbed;
 *   - with every durable call replayed and the clock moving on in between;
 *   - crashed just before each commit that the undisturbed run made, and once more just after it;
 *   - if nothing was found so far, crashed just before its end and replayed 25 hours later, to compare only the path.
 * After a crash a new runner takes over.  The sender of the create or the event tries again, as a client
 * would.  A finding is that
 *   - a crashed run ends differently from the undisturbed one, or with other steps;
 *   - the body of a completed step is run again;
 *   - a run, of this workflow or another, does not end;
 *   - the function, run again, does not make the same durable calls in the same order up to where it was;
 *   - it uses the same name twice in one pass, which is the same step (for a deferred only waits count);
 *   - the undisturbed run ends with an error that only the code can cause: INVALID or STEP_TYPE_MISMATCH, a status that does not
 *     exist or that only the engine may return, WORKFLOW_NOT_FOUND for a workflow that the sweep was not given.
 * A sweep has limits.  The process stays the same, so without options.crashed, static variables survive a simulated
 * crash as they never would a real one, and a body that reads what an earlier body left there is not found.  Nor is
 * a branch that, run again, only leaves out its last calls, because a branch that lost a race may do so. */

struct pawl_sweep_event {
    const char *type;         /* or "deferred:<name>", which completes that deferred instead of sending an event */
    const char *payload_json; /* or NULL */
    const char *after;        /* time since the creation, "1 hour"; NULL: at once */
};

/* setup: anything but PAWL_OK ends the sweep with that status.  check: anything but PAWL_OK is a finding with the
 * error's text. */
typedef pawl_status pawl_sweep_fn(pawl_world *world, void *user, struct pawl_error *error);

/* Writes the source position of a call, as "order.c:31".  False: unknown. */
typedef bool pawl_sweep_place_fn(const char *object, uint64_t offset, char *text, size_t size);

/* Called with the case that runs now, in the words of a finding's `where`, and with the step whose body runs; NULL:
 * none.  For a process that watches this one from outside and wants to know what killed it.  A function that has
 * made 10,000 durable calls in one pass after PAWL_SUSPENDED may never return, and cannot be stopped from inside.
 * Then this is called once with more words after `where`, and from then on each call takes a millisecond.  It must
 * not use the world. */
typedef void pawl_sweep_tell_fn(void *user, const char *where, const char *step);

/* Called at every simulated crash, when nothing of the dead process runs any more, and at the beginning of each
 * world, before its setup.  It resets what a process loses when it dies: static variables and what they point to.
 * It must not reset the world outside the process, which is the setup's job, and must not use the world. */
typedef void pawl_sweep_crashed_fn(void *user);

/* All is borrowed for the call. */
struct pawl_sweep_options {
    size_t struct_size;
    const struct pawl_module *module;      /* what to register, or NULL */
    const struct pawl_workflow *workflows; /* the same as an array of workflow_count, or NULL */
    size_t workflow_count;
    const char *workflow;                  /* the one to run */
    const char *params_json;               /* or NULL */
    const struct pawl_sweep_event *events; /* events for it, ordered by time; event_count of them; or NULL */
    size_t event_count;
    pawl_sweep_fn *setup; /* or NULL: prepares each fresh world: tables, mocks, outside state */
    pawl_sweep_fn *check; /* or NULL: examines each world at its end; the instance's id is "sweep" */
    void *user;           /* passed to setup, check, tell and crashed */
    uint64_t seed;
    struct pawl_limits limits;
    int64_t turns_max;              /* 0: 1000; a run that takes more counts as one that does not end */
    int64_t findings_max;           /* 0: 10; further findings are left out */
    bool outcome_may_vary;          /* do not compare outcomes, because a body returns a random number, for example */
    pawl_sweep_place_fn *place;     /* for the report's text; NULL, or if it returns false: "order.so+0x12f4" */
    pawl_sweep_tell_fn *tell;       /* or NULL */
    bool names_may_repeat;          /* in one pass the same name is meant to be the same step: report no repetition */
    pawl_sweep_crashed_fn *crashed; /* or NULL */
};
/* clang-format off */
#define PAWL_SWEEP_OPTIONS_INIT                                                                                        \
    { sizeof(struct pawl_sweep_options), NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, { 0, 0, 0, 0 }, 0, 0,   \
      false, NULL, NULL, false, NULL }
/* clang-format on */

enum pawl_sweep_kind {
    PAWL_SWEEP_OUTCOME,          /* another status, result or error, other steps, or another number of instances */
    PAWL_SWEEP_RAN_TWICE,        /* the body of a completed step ran again */
    PAWL_SWEEP_UNFINISHED,       /* a run has not ended, and nothing will move it */
    PAWL_SWEEP_ENDLESS,          /* something is always due */
    PAWL_SWEEP_NONDETERMINISTIC, /* another path in a replay */
    PAWL_SWEEP_CHECK,            /* the caller's check failed */
    PAWL_SWEEP_REPEATED,         /* one name twice in one pass: the second call gets the answer of the first */
    PAWL_SWEEP_MISUSE            /* it ended with an error that only the code can cause, such as INVALID_DURATION */
};

/* A line of a diff between two lists of steps: removed (-), added (+) or unchanged (blank). */
struct pawl_sweep_line {
    char sign;
    const char *text;   /* "step 3: do \"charge\"" */
    const char *object; /* the program or shared object that makes the call, for addr2line; NULL: unknown */
    uint64_t offset;    /* of the call in it */
};

struct pawl_sweep_finding {
    enum pawl_sweep_kind kind;
    const char *where; /* "crashed just before commit 5 (step \"charge\" completed)" */
    const char *text;  /* what is wrong */
    const struct pawl_sweep_line *lines;
    size_t line_count;
    int64_t times; /* in how many cases it occurred */
};

struct pawl_sweep_report {
    /* How the undisturbed run ended: "complete with {\"n\":1}", "errored with Broken: on purpose".  NULL: it did not end, or a finding
     * stopped it. */
    const char *outcome;
    const char *const *commits; /* of the undisturbed run: "step \"charge\" completed" */
    size_t commit_count;
    int64_t crashes; /* how many crashes were simulated */
    const struct pawl_sweep_finding *findings;
    size_t finding_count;
    const char *text; /* the whole report, for people */
};

/* Sweeps a workflow.  The report lives in the scope.  PAWL_OK: the sweep was completed; a correct workflow has no
 * findings. */
PAWL_API pawl_status pawl_sweep(pawl_scope *scope, const struct pawl_sweep_options *options,
                                struct pawl_sweep_report *out_report, struct pawl_error *error) PAWL_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
