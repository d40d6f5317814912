/* testing.h - a small world in which workflows are tested: simulated time, seeded chance, no threads, no real waiting.
 *
 *     pawl_world *world;
 *     pawl_world_open(NULL, &world, &error);
 *     pawl_register(pawl_world_engine(world), &order, &error);
 *     pawl_world_create(world, "order", "o-1", "{\"sku\": \"teapot\"}", &error);
 *     pawl_world_run_until_idle(world, &error);
 *     pawl_world_advance(world, "1 hour", &error);           ... and what was due has run
 *     pawl_world_get(world, "order", "o-1", &instance, &error);
 *
 * The engine inside is the real one: everything of service.h and runner.h works on it.  The same seed gives the same ids
 * and the same order of everything.  Answers live in the world's scope, until it is closed. */
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
    bool disable_sleeps;       /* sleeps are done at once */
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

/* Moves the clock by a duration ("1 hour", "250 ms"), stopping at every moment at which something is due, so that all of
 * it runs at its time; then runs what is due at the end. */
PAWL_API pawl_status pawl_world_advance(pawl_world *world, const char *duration,
                                        struct pawl_error *error) PAWL_MUST_CHECK;

/* Lets time pass and runs nothing.  Backwards it is as pawl_world_set_clock_ms(): time that has passed does not come back. */
PAWL_API void pawl_world_jump_ms(pawl_world *world, int64_t by_ms);

/* Sets wall time forward or back by so much, as people and time servers do, while no time passes.  Sleeps, retries and waits
 * end by wall time: sooner or later.  Bodies do not time out by it, and runners lose no lease. */
PAWL_API void pawl_world_set_clock_ms(pawl_world *world, int64_t by_ms);

/* ---- Running ------------------------------------------------------------------------------------------------------ */

/* One due turn.  out_processed (or NULL): 0 when none was due. */
PAWL_API pawl_status pawl_world_tick(pawl_world *world, int64_t *out_processed,
                                     struct pawl_error *error) PAWL_MUST_CHECK;

/* Until nothing is due now.  PAWL_BUSY when that does not come within 100,000 turns. */
PAWL_API pawl_status pawl_world_run_until_idle(pawl_world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* The same, then on to the next moment at which something is due, until nothing is due ever. */
PAWL_API pawl_status pawl_world_run_to_end(pawl_world *world, struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Shorthands of service.h ---------------------------------------------------------------------------------------- */

/* id and params may be NULL.  Returns once created; runs nothing. */
PAWL_API pawl_status pawl_world_create(pawl_world *world, const char *workflow, const char *id, const char *params_json,
                                       struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_send_event(pawl_world *world, const char *workflow, const char *id, const char *type,
                                           const char *payload_json, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_get(pawl_world *world, const char *workflow, const char *id,
                                    struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;
/* All steps, events and logs of the run (0: the current one), however many. */
PAWL_API pawl_status pawl_world_history(pawl_world *world, const char *workflow, const char *id, int64_t run_number,
                                        struct pawl_history *out_history, struct pawl_error *error) PAWL_MUST_CHECK;
/* The step of that name in the current run; NULL when there is none, or on an error. */
PAWL_API const struct pawl_step_record *pawl_world_step(pawl_world *world, const char *workflow, const char *id,
                                                        const char *step);

/* ---- Deferreds, by their names ----------------------------------------------------------------------------------------- */

/* Of the current run.  PAWL_INVALID_STEP_NAME: the run has not asked for the token yet.  The token is the world's. */
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

/* For `times` attempts (0: always), of this workflow (NULL: any), the newest mock of a step first. */
PAWL_API pawl_status pawl_world_mock_result(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                            const char *result_json, struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_mock_failure(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                             const char *error_name, const char *error_message, bool may_retry,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_world_mock_timeout(pawl_world *world, const char *workflow, const char *step, int64_t times,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
PAWL_API void pawl_world_unmock(pawl_world *world);

/* ---- Trace --------------------------------------------------------------------------------------------------------------- */

/* Everything that was committed, refused or woken, and who was allowed to do what over HTTP, a line each with its time, to
 * be read afterwards.  Valid until the next
 * call on the world. */
PAWL_API const char *pawl_world_trace(pawl_world *world);

/* ---- Tables of one's own, in the world's database -------------------------------------------------------------------------- */

/* One statement, in a transaction of its own. */
PAWL_API pawl_status pawl_world_sql(pawl_world *world, const char *sql, struct pawl_error *error) PAWL_MUST_CHECK;
/* The same with a function, which may read, too. */
PAWL_API pawl_status pawl_world_mutate(pawl_world *world, pawl_mutation_fn *mutate, const void *data, size_t size,
                                       struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Crash sweeps ------------------------------------------------------------------------------------------------------------ */

/* Runs a workflow undisturbed; then with every durable call replayed and the clock moving on in between; then once for
 * every commit that the undisturbed run made, crashed just before it, and once more, crashed just after it; at last, when
 * nothing was found, crashed just before its end and replayed 25 hours later, where only the path is asked for: a fresh
 * world each time, and a new runner on it after the crash.  Whoever created the instance or sent an event tries again, as a
 * client would.  Found is when
 *   - a crashed run ends otherwise than the undisturbed one, or with other steps;
 *   - the body of a completed step is run again;
 *   - a run, of this workflow or another, does not end;
 *   - the function, run again, does not make the same durable calls in the same order up to where it was;
 *   - it calls the same name twice in one pass, which is the same step; of a deferred only waits count;
 *   - the undisturbed run ends with an error that only the code can cause: INVALID or STEP_TYPE_MISMATCH, a status that is
 *     none or that only the engine may say, WORKFLOW_NOT_FOUND of a workflow that the sweep was not given.
 * The process stays the same: without options.crashed, what a workflow keeps in static variables outlives a crash here, as it
 * never does in life, and a body that reads what an earlier one left there is not found.  Nor is it when a branch, run again,
 * only leaves out its last calls, as one that lost a race may. */

struct pawl_sweep_event {
    const char *type;         /* or "deferred:<name>": no event, but the deferred of that name is completed */
    const char *payload_json; /* or NULL */
    const char *after;        /* "1 hour" after the creation; NULL: at once */
};

/* Anything but PAWL_OK is what the sweep answers (setup), or a finding with the error's text (check). */
typedef pawl_status pawl_sweep_fn(pawl_world *world, void *user, struct pawl_error *error);

/* Writes where a call stands, as "order.c:31"; false: it cannot tell. */
typedef bool pawl_sweep_place_fn(const char *object, uint64_t offset, char *text, size_t size);

/* Told of what is played now, in the words of a finding's `where`, and of the step whose body is run; NULL: none is.  For who
 * watches from outside, and would know what killed this process.  A function that has made 10,000 durable calls in one pass
 * after it was answered PAWL_SUSPENDED may never come back, and cannot be stopped from inside: of that it is told once, by
 * more words behind `where`, and each call takes a millisecond from then on.  It must not use the world. */
typedef void pawl_sweep_tell_fn(void *user, const char *where, const char *step);

/* Called at every crash that is simulated, when nothing of the dead process runs any more, and at the beginning of each world
 * that is played, before its setup: to forget what a process forgets when it dies, static variables and what they point
 * to.  Not for what is outside of the process: that is the setup's.  It must not use the world. */
typedef void pawl_sweep_crashed_fn(void *user);

/* All is borrowed for the call. */
struct pawl_sweep_options {
    size_t struct_size;
    const struct pawl_module *module;      /* what to register, or NULL */
    const struct pawl_workflow *workflows; /* the same, by itself, or NULL; workflow_count of them */
    size_t workflow_count;
    const char *workflow;                  /* the one to run */
    const char *params_json;               /* or NULL */
    const struct pawl_sweep_event *events; /* for it, or NULL; event_count of them, in the order of their time */
    size_t event_count;
    pawl_sweep_fn *setup; /* or NULL: makes each fresh world ready: tables, mocks, the outside reset */
    pawl_sweep_fn *check; /* or NULL: looks at each world at its end; the instance's id is "sweep" */
    void *user;           /* for both, for tell and for crashed */
    uint64_t seed;
    struct pawl_limits limits;
    int64_t turns_max;              /* 0: 1000; a run that takes more is taken for one that does not end */
    int64_t findings_max;           /* 0: 10; enough, the rest is left out */
    bool outcome_may_vary;          /* by nature, as where a body answers with a random number: do not compare it */
    pawl_sweep_place_fn *place;     /* for the report's text; NULL, or where it cannot tell: "order.so+0x12f4" */
    pawl_sweep_tell_fn *tell;       /* or NULL */
    bool names_may_repeat;          /* in one pass, the same name is meant to be the same step: do not tell of it */
    pawl_sweep_crashed_fn *crashed; /* or NULL */
};
/* clang-format off */
#define PAWL_SWEEP_OPTIONS_INIT                                                                                        \
    { sizeof(struct pawl_sweep_options), NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, { 0, 0, 0, 0 }, 0, 0,   \
      false, NULL, NULL, false, NULL }
/* clang-format on */

enum pawl_sweep_kind {
    PAWL_SWEEP_OUTCOME,          /* another status, result or error, other steps, or another number of instances */
    PAWL_SWEEP_RAN_TWICE,        /* the body of a completed step */
    PAWL_SWEEP_UNFINISHED,       /* a run is not at its end, and nothing will move it */
    PAWL_SWEEP_ENDLESS,          /* something is always due */
    PAWL_SWEEP_NONDETERMINISTIC, /* another path at a replay */
    PAWL_SWEEP_CHECK,            /* the caller's */
    PAWL_SWEEP_REPEATED,         /* one name twice in one pass: the second call is answered what the first was */
    PAWL_SWEEP_MISUSE            /* it ended with an error that only the code can cause: INVALID_DURATION, for one */
};

/* A line of a comparison of two lists of steps: what was (-), what is instead (+), what is the same (blank). */
struct pawl_sweep_line {
    char sign;
    const char *text;   /* "step 3: do \"charge\"" */
    const char *object; /* where the call stands: the program or shared object, for addr2line; NULL: not known */
    uint64_t offset;    /* in it */
};

struct pawl_sweep_finding {
    enum pawl_sweep_kind kind;
    const char *where; /* "crashed just before commit 5 (step \"charge\" completed)" */
    const char *text;  /* what is wrong */
    const struct pawl_sweep_line *lines;
    size_t line_count;
    int64_t times; /* in how many cases it was the same */
};

struct pawl_sweep_report {
    const char *outcome;        /* of the undisturbed run: "complete with {\"n\":1}", "errored with Broken: on purpose";
                                   NULL: it did not end, or was stopped at what was found */
    const char *const *commits; /* of the undisturbed run: "step \"charge\" completed" */
    size_t commit_count;
    int64_t crashes; /* cases made */
    const struct pawl_sweep_finding *findings;
    size_t finding_count;
    const char *text; /* all of this, for people */
};

/* The report lives in the scope.  PAWL_OK: the sweep was made; a good workflow has no findings. */
PAWL_API pawl_status pawl_sweep(pawl_scope *scope, const struct pawl_sweep_options *options,
                                struct pawl_sweep_report *out_report, struct pawl_error *error) PAWL_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
