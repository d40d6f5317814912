/* workflow.h - writing workflows and steps in C.
 *
 * A workflow is an ordinary function, run from the top each turn.  Its durable calls (pawl_do, pawl_sleep, ...) answer
 * from history what happened before and go on from there.  So:
 *   - effects belong into steps: code outside may run again at any time;
 *   - give each step a name that is the same at every replay; in loops put the index into it (pawl_run_format);
 *   - a step may be tried again: make what it does safe to repeat;
 *   - when a durable call says anything but PAWL_OK, return it up.  PAWL_TRY does that.  PAWL_SUSPENDED means the run
 *     is parked, and nothing is lost.  It is sticky, so forgetting to return is harmless.  PAWL_INTERRUPTED means that
 *     somebody asked the run to stop: what its steps did is undone (struct pawl_compensation), whatever is returned.
 *
 * Values handed out live until the turn ends, values made in a step until the step ends: there is nothing to free.
 * This layer is built on engine.h alone. */
#ifndef PAWL_WORKFLOW_H
#define PAWL_WORKFLOW_H

#include "engine.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_run pawl_run;   /* a run, or one of its parallel branches */
typedef struct pawl_step pawl_step; /* one attempt at a step's body */

/* Also the type of a parallel branch.  *out_result is NULL ("no result") unless set. */
typedef pawl_status pawl_workflow_fn(pawl_run *run, const pawl_value *params, pawl_value **out_result);
typedef pawl_status pawl_step_fn(pawl_step *step, const pawl_value *input, pawl_value **out_result);

#define PAWL_NO_RETRIES (-1)

struct pawl_compensation;

/* Zero and NULL mean the workflow's default, which means: 5 retries, 10 seconds, exponential, 10 minutes. */
struct pawl_step_options {
    int64_t retries;   /* 1 ... PAWL_RETRIES_UNLIMITED, or PAWL_NO_RETRIES */
    const char *delay; /* before a retry: "10 seconds" */
    enum pawl_backoff backoff;
    const char *timeout; /* of one attempt: "10 minutes" */
    /* The rest is a step's own: a workflow's defaults have none. */
    const char *description;                    /* for people, up to 1024 bytes; or NULL */
    const struct pawl_compensation *compensate; /* or NULL; copied, but for its function */
};

/* What undoes a step.  When the workflow function fails, or the run is interrupted or terminated with rollback, the
 * compensations of the steps that have completed run, the newest first, as durable steps named "compensate: <step>": a name
 * that no other step may have.  A name that would become longer than 256 bytes is cut, and told apart by a number.
 * The input is {"input": ..., "result": ...}, what the step got and what it answered; where there was none, the key is
 * missing.  One that fails for good is logged, the others still run, and the run ends with the error that it had; an
 * interrupted or rolled back one ends with COMPENSATION_FAILED.  A failure that the workflow handles undoes nothing. */
struct pawl_compensation {
    pawl_step_fn *undo;
    const struct pawl_step_options *options; /* NULL: the workflow's defaults.  Must not carry a compensation */
};

enum pawl_mode {
    PAWL_MODE_REMOTE, /* durable, carried on by runners */
    PAWL_MODE_INLINE /* pawl_execute() (service.h) runs it to its end in its own thread, on a store in memory: for tests
                       * and development.  Its sleeps wait for real; a wait that nothing in memory can end is refused */
};

struct pawl_workflow {
    const char *name; /* 1-64 of [a-zA-Z0-9_-], no leading - or _ */
    pawl_workflow_fn *run;
    const char *description;               /* or NULL */
    const char *const *tags;               /* or NULL; ends with a NULL */
    const struct pawl_step_options *steps; /* defaults for its steps, or NULL */
    struct pawl_limits limits;             /* zero: the engine's */
    void *user;                            /* the host's: pawl_run_user() */
    const char *const *permissions; /* that a caller needs, for the authorization (http.h); ends with a NULL; or NULL */
    enum pawl_mode mode;
    /* A step that failed for good (do, process, call, child) does not say so, but parks the run, paused: somebody mends what is
     * wrong and resumes it, and the step is tried again from its first attempt. */
    bool suspend_on_failure;
    /* Of its code: 1-64 of [a-zA-Z0-9._-]; or NULL.  It is recorded with each run that begins here, and instances can be listed by
     * it (pawl_list()).  It decides nothing: a run that was begun by other code is carried on by this one. */
    const char *version;
};

/* Copied, but for what `user` points at.  Before the runner starts. */
PAWL_API pawl_status pawl_register(pawl_engine *engine, const struct pawl_workflow *workflow,
                                   struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- In a workflow ------------------------------------------------------------------------------------------- */

/* Runs `body` once and for all under this name.  PAWL_OK: *out_result is its result, now and at every replay (out_result
 * may be NULL).  PAWL_FAILED: it failed for good; pawl_run_failure() says with what.  options may be NULL.
 * `input` is what the body gets; `body` may be called in another thread while branches run. */
PAWL_API pawl_status pawl_do(pawl_run *run, const char *name, const struct pawl_step_options *options,
                             pawl_step_fn *body, const pawl_value *input, pawl_value **out_result) PAWL_MUST_CHECK;

/* A program as a step.  It reads the input as JSON from its standard input (nothing, when there is none) and writes its
 * result as JSON to its standard output (nothing: no result).  Exit code 0 is success; anything else fails the attempt,
 * with the code and the last of what it wrote to its standard error in the message (PROCESS_FAILED; PROCESS_NOT_STARTED;
 * PROCESS_OUTPUT_INVALID).  If it succeeds, its standard error is logged.  It runs in a process group of its own.  The
 * whole group is killed at the timeout, when another process moves the run on, when the program ends, and when the host
 * ends, by kill -9 as well.  Its timeout is hard.  What leaves the group (setsid) is not killed.  It finds PAWL_WORKFLOW, PAWL_INSTANCE_ID, PAWL_RUN_NUMBER, PAWL_STEP and PAWL_ATTEMPT
 * in its environment. */
struct pawl_process {
    const char *const
        *arguments; /* the program, by its path or as PATH finds it, and its arguments; ends with a NULL */
    const char *const *environment; /* "NAME=value", besides the host's own; ends with a NULL; or NULL */
    const char *directory;          /* where it runs; NULL: where the host does */
    int exit_code_for_good;         /* an exit code after which trying again would not help; 0: there is none */
};
PAWL_API pawl_status pawl_do_process(pawl_run *run, const char *name, const struct pawl_step_options *options,
                                     const struct pawl_process *process, const pawl_value *input,
                                     pawl_value **out_result) PAWL_MUST_CHECK;

/* "1 hour", "90 s", "250 ms"; a bare number is milliseconds.  At most 365 days. */
PAWL_API pawl_status pawl_sleep(pawl_run *run, const char *name, const char *duration) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_sleep_ms(pawl_run *run, const char *name, int64_t duration_ms) PAWL_MUST_CHECK;
/* Milliseconds since 1970.  A moment in the past is done at once. */
PAWL_API pawl_status pawl_sleep_until(pawl_run *run, const char *name, int64_t wake_at_ms) PAWL_MUST_CHECK;

struct pawl_event {
    const char *type;
    pawl_value *payload; /* NULL: none */
    int64_t sent_at_ms;
};

/* Takes the oldest event of the type that nobody took yet.  timeout NULL: 24 hours.  PAWL_WAIT_FOR_EVENT_TIMEOUT: none
 * came in time; the workflow may handle that and go on. */
PAWL_API pawl_status pawl_wait_for_event(pawl_run *run, const char *name, const char *type, const char *timeout,
                                         struct pawl_event *out_event) PAWL_MUST_CHECK;

/* ---- What others finish ---------------------------------------------------------------------------------------- */

/* A step that a worker carries out: a runner on this store that has the function registered, in this process or another,
 * or a program that claims jobs (service.h, docs/http.md).  `data` is what the function gets.  Retries and timeout are the
 * step's; the time of an attempt counts from when a worker took it.  Otherwise as pawl_do(). */
PAWL_API pawl_status pawl_call(pawl_run *run, const char *name, const char *function,
                               const struct pawl_step_options *options, const pawl_value *data,
                               pawl_value **out_result) PAWL_MUST_CHECK;

/* Calls a function that is registered with this engine, here and now: nothing is recorded, and a replay calls it again.
 * PAWL_FAILED: it failed; pawl_run_failure() says with what.  It is no step: in it pawl_step_log() and everything that
 * registers something with a step's completion answer PAWL_INVALID, and it has no deadline. */
PAWL_API pawl_status pawl_invoke(pawl_run *run, const char *function, const pawl_value *data,
                                 pawl_value **out_result) PAWL_MUST_CHECK;

/* Zero and NULL mean what is said behind each. */
struct pawl_child_options {
    const char *id; /* NULL: one is made */
    bool detached;  /* false: it is terminated and interrupted with its parent */
};

/* A step that makes an instance of another workflow, and goes on at once.  An id that exists fails the step.  options may be
 * NULL; out_id (or NULL): its id, of the turn's life. */
PAWL_API pawl_status pawl_start_child(pawl_run *run, const char *name, const char *workflow,
                                      const struct pawl_child_options *options, const pawl_value *params,
                                      const char **out_id) PAWL_MUST_CHECK;
/* A step that waits until an instance which this one made has finished.  PAWL_OK: *out_result is what it answered.
 * PAWL_FAILED: it failed, and so pawl_run_failure() is its error; CHILD_TERMINATED when it was terminated. */
PAWL_API pawl_status pawl_await_child(pawl_run *run, const char *name, const char *workflow, const char *id,
                                      pawl_value **out_result) PAWL_MUST_CHECK;
/* Both, as the steps "<name>" and "await: <name>". */
PAWL_API pawl_status pawl_run_child(pawl_run *run, const char *name, const char *workflow,
                                    const struct pawl_child_options *options, const pawl_value *params,
                                    pawl_value **out_result) PAWL_MUST_CHECK;

/* The token of the deferred of this name: a text that cannot be guessed.  Whoever has it finishes the deferred, once, before
 * or after the run waits for it (service.h: pawl_deferred_succeed, pawl_deferred_fail).  The same at every replay. */
PAWL_API pawl_status pawl_deferred_token(pawl_run *run, const char *name, const char **out_token) PAWL_MUST_CHECK;
/* Waits for it.  timeout NULL: as long as it takes.  PAWL_FAILED: it was failed; pawl_run_failure() says with what.
 * PAWL_WAIT_FOR_EVENT_TIMEOUT: nobody came in time. */
PAWL_API pawl_status pawl_await_deferred(pawl_run *run, const char *name, const char *timeout,
                                         pawl_value **out_result) PAWL_MUST_CHECK;

/* ---- Branches -------------------------------------------------------------------------------------------------- */

struct pawl_branch {
    pawl_workflow_fn *run;
    const pawl_value *input;
    pawl_value *result; /* out: when status is PAWL_OK */
    pawl_status status; /* out */
};

/* The name is for people: history shows it as the place of the branches' steps.
 * Runs the branches at once, at most `limit` (0: no limit) begun and unfinished.  Each has steps and waits of its own,
 * under names that the author keeps apart from the others'.  Comes back when all have finished: PAWL_OK, or the status of the first, by position,
 * that failed; what each answered stands in it. */
PAWL_API pawl_status pawl_all(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count,
                              size_t limit) PAWL_MUST_CHECK;

/* Runs the branches until one has finished, which is recorded under the name; the others are abandoned.  Answers that
 * branch's status. */
PAWL_API pawl_status pawl_first(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count,
                                size_t *out_winner) PAWL_MUST_CHECK;

/* Builds the result (value.h: pawl_value_pack) and returns: `return pawl_return(run, out_result, "{s:i}", "n", 1);` */
PAWL_API pawl_status pawl_return(pawl_run *run, pawl_value **out_result, const char *format, ...) PAWL_MUST_CHECK;

/* Fails the run: `return pawl_run_fail(run, "NotApproved", "order %s was refused", id);` */
PAWL_API pawl_status pawl_run_fail(pawl_run *run, const char *error_name, const char *format, ...) PAWL_MUST_CHECK
    PAWL_PRINTF(3, 4);

/* A durable log line.  category NULL: "workflow"; data may be NULL. */
PAWL_API pawl_status pawl_log(pawl_run *run, enum pawl_log_level level, const char *category, const pawl_value *data,
                              const char *format, ...) PAWL_MUST_CHECK PAWL_PRINTF(5, 6);

struct pawl_failure {
    const char *name;    /* "CardDeclined", "WAIT_FOR_EVENT_TIMEOUT"; "" when nothing failed yet */
    const char *message; /* never NULL */
};
/* What the last durable call of this run or branch that did not succeed failed with.  Valid until the turn ends. */
PAWL_API struct pawl_failure pawl_run_failure(const pawl_run *run);

/* What a run knows about itself.  Texts are valid until the turn ends. */
PAWL_API const char *pawl_run_workflow(const pawl_run *run);
PAWL_API const char *pawl_run_id(const pawl_run *run);
PAWL_API int64_t pawl_run_number(const pawl_run *run);
PAWL_API int64_t pawl_run_created_at_ms(const pawl_run *run); /* the same at every replay */
PAWL_API void *pawl_run_user(const pawl_run *run);
PAWL_API pawl_scope *pawl_run_scope(pawl_run *run);
PAWL_API pawl_engine *pawl_run_engine(const pawl_run *run);
/* Whose child it is; NULL: nobody's. */
PAWL_API const struct pawl_parent *pawl_run_parent(const pawl_run *run);
/* printf into the run's scope, for names with an index.  NULL when memory is out, which every call that takes a name
 * answers with PAWL_NOMEM. */
PAWL_API const char *pawl_run_format(pawl_run *run, const char *format, ...) PAWL_PRINTF(2, 3);

/* ---- In a step ------------------------------------------------------------------------------------------------ */

/* `return pawl_result(step, out_result, "{s:s}", "receipt", id);` */
PAWL_API pawl_status pawl_result(pawl_step *step, pawl_value **out_result, const char *format, ...) PAWL_MUST_CHECK;

/* The attempt failed; it is tried again as the options say.  Any other status that a body returns is one, too. */
PAWL_API pawl_status pawl_fail(pawl_step *step, const char *error_name, const char *format, ...) PAWL_MUST_CHECK
    PAWL_PRINTF(3, 4);
/* The step failed for good. */
PAWL_API pawl_status pawl_fail_for_good(pawl_step *step, const char *error_name, const char *format,
                                        ...) PAWL_MUST_CHECK PAWL_PRINTF(3, 4);

/* As pawl_log(); the line names the step and its attempt. */
PAWL_API pawl_status pawl_step_log(pawl_step *step, enum pawl_log_level level, const char *category,
                                   const pawl_value *data, const char *format, ...) PAWL_MUST_CHECK PAWL_PRINTF(5, 6);

/* SQL that runs in the transaction that records this step as completed: with it or not at all, and only once.
 * Parameters $1, $2 ... come from a pack format: pawl_step_sql(step, "INSERT INTO paid VALUES ($1, $2)", "[s, i]", id, 3).
 * Format NULL: none.  _on_failure: in the transaction that records that the step failed for good. */
PAWL_API pawl_status pawl_step_sql(pawl_step *step, const char *sql, const char *format, ...) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_step_sql_on_failure(pawl_step *step, const char *sql, const char *format,
                                              ...) PAWL_MUST_CHECK;
/* The same with a function on the store's own connection; data is copied. */
PAWL_API pawl_status pawl_step_mutate(pawl_step *step, enum pawl_mutation_when when, pawl_mutation_fn *mutate,
                                      const void *data, size_t size) PAWL_MUST_CHECK;
/* Another instance, or an event to one, with this step's completion.  An id that exists fails the step for good.
 * instance_id NULL: generated.  It knows its parent, which cannot await it and does not hear of its end. */
PAWL_API pawl_status pawl_step_create(pawl_step *step, const char *workflow, const char *instance_id,
                                      const pawl_value *params) PAWL_MUST_CHECK;
/* The same as a child that can be awaited, attached or not; out_id (or NULL): its id, of the turn's life. */
PAWL_API pawl_status pawl_step_create_child(pawl_step *step, const char *workflow, const char *instance_id,
                                            bool attached, const pawl_value *params,
                                            const char **out_id) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_step_send_event(pawl_step *step, const char *workflow, const char *instance_id,
                                          const char *type, const pawl_value *payload) PAWL_MUST_CHECK;

/* What the workflow calls it; of a bare call the function's name. */
PAWL_API const char *pawl_step_name(const pawl_step *step);
/* The run whose step it is.  In a function that carries out a call it is the job's. */
PAWL_API const pawl_run *pawl_step_run(const pawl_step *step);
PAWL_API int64_t pawl_step_attempt(const pawl_step *step); /* from 1 */
/* When it times out, in wall time.  To count down, ask for the remaining time: wall time may jump. */
PAWL_API int64_t pawl_step_deadline_ms(const pawl_step *step);
/* How long this attempt still has before it times out; 0: it has timed out, or is about to.  No jump of wall time touches it.
 * INT64_MAX of a bare call, which has no timeout. */
PAWL_API int64_t pawl_step_remaining_ms(const pawl_step *step);
/* True once what this attempt does can no longer count; long bodies should ask now and then. */
PAWL_API bool pawl_step_cancelled(const pawl_step *step);
PAWL_API void *pawl_step_user(const pawl_step *step);
PAWL_API pawl_scope *pawl_step_scope(pawl_step *step);
PAWL_API pawl_engine *pawl_step_engine(const pawl_step *step);

/* ---- Functions: what pawl_call() and pawl_invoke() name ---------------------------------------------------------- */

/* `run` gets the call's data, and a step of which pawl_step_attempt() is the call's attempt.  It may run in another process
 * than the workflow does: what registers something with a step's completion (pawl_step_sql, pawl_step_create ...) answers
 * PAWL_INVALID in it. */
struct pawl_function {
    const char *name; /* 1-63 of [a-zA-Z0-9._-], not starting with - or a dot */
    pawl_step_fn *run;
    const char *description; /* or NULL */
    int32_t concurrency;     /* calls of it at once, over all workers that say so; 0: no limit */
    void *user;              /* the host's: pawl_step_user() in it */
};

/* Copied, but for what `user` points at.  Before the runner starts, which from then on carries out calls of it. */
PAWL_API pawl_status pawl_register_function(pawl_engine *engine, const struct pawl_function *function,
                                            struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Middleware ---------------------------------------------------------------------------------------------------- */

/* What is wrapped: go on inward with pawl_next_call(), at most once.  Its answer is what the workflow function or the body
 * returned.  Without that call it does not run, and there is no result. */
typedef struct pawl_next pawl_next;
PAWL_API pawl_status pawl_next_call(pawl_next *next) PAWL_MUST_CHECK;

/* Wraps every call of every workflow function, and so every pass: a replay is one, too; and every body of a step or function.
 * What it returns counts as if the function or body had.  A run that answered PAWL_SUSPENDED stays suspended. */
struct pawl_middleware {
    pawl_status (*around_run)(pawl_run *run, pawl_next *next, void *user);    /* or NULL */
    pawl_status (*around_step)(pawl_step *step, pawl_next *next, void *user); /* or NULL */
    void *user;
};

/* Copied, but for what `user` points at.  The first one used is the outermost.  Before the runner starts. */
PAWL_API pawl_status pawl_use(pawl_engine *engine, const struct pawl_middleware *middleware,
                              struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Modules: a file's workflows and functions, loadable from a shared object ------------------------------------ */

#define PAWL_MODULE_VERSION 2

struct pawl_module_functions {
    int version;
    size_t function_size;
    size_t function_count;
    const struct pawl_function *functions;
};

struct pawl_module {
    int version;
    size_t workflow_size;
    size_t workflow_count;
    const struct pawl_workflow *workflows;
    const struct pawl_module_functions *functions; /* NULL: none */
};

/* PAWL_MODULE({ .name = "order", .run = order }, { .name = "refund", .run = refund }); exports a file's workflows,
 * for pawl_register_module(engine, &pawl_module, &error) in the same program, or to be loaded from a shared object.
 * PAWL_FUNCTIONS({ .name = "charge", .run = charge }); exports functions: with the module of the same program or shared
 * object, or alone. */
#ifdef __cplusplus
#define PAWL_MODULE_EXPORT extern "C" PAWL_API
#else
#define PAWL_MODULE_EXPORT extern PAWL_API
#endif
/* How PAWL_MODULE finds the functions beside it, if there are any: weak, and hidden, so that it never means another's. */
extern const struct pawl_module_functions pawl_functions_beside_ __attribute__((weak, visibility("hidden")));
#define PAWL_MODULE(...)                                                                                               \
    static const struct pawl_workflow pawl_module_workflows_[] = { __VA_ARGS__ };                                      \
    PAWL_MODULE_EXPORT const struct pawl_module pawl_module;                                                           \
    const struct pawl_module pawl_module = { PAWL_MODULE_VERSION, sizeof(struct pawl_workflow),                        \
                                             sizeof pawl_module_workflows_ / sizeof pawl_module_workflows_[0],         \
                                             pawl_module_workflows_, &pawl_functions_beside_ }
#define PAWL_FUNCTIONS_OF_(array)                                                                                      \
    {                                                                                                                  \
        PAWL_MODULE_VERSION, sizeof(struct pawl_function), sizeof(array) / sizeof(array)[0], array                     \
    }
#define PAWL_FUNCTIONS(...)                                                                                            \
    static const struct pawl_function pawl_functions_[] = { __VA_ARGS__ };                                             \
    PAWL_MODULE_EXPORT const struct pawl_module_functions pawl_module_functions;                                       \
    const struct pawl_module_functions pawl_functions_beside_ = PAWL_FUNCTIONS_OF_(pawl_functions_);                   \
    const struct pawl_module_functions pawl_module_functions = PAWL_FUNCTIONS_OF_(pawl_functions_)

/* Registers the module's workflows and functions.  PAWL_MODULE_INVALID: it was built for another version. */
PAWL_API pawl_status pawl_register_module(pawl_engine *engine, const struct pawl_module *module,
                                          struct pawl_error *error) PAWL_MUST_CHECK;
/* Functions alone: pawl_register_functions(engine, &pawl_module_functions, &error). */
PAWL_API pawl_status pawl_register_functions(pawl_engine *engine, const struct pawl_module_functions *functions,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
/* Loads the shared object and registers what it exports, which may be functions alone.  It stays loaded until the engine is
 * closed. */
PAWL_API pawl_status pawl_load_module(pawl_engine *engine, const char *path, struct pawl_error *error) PAWL_MUST_CHECK;
/* The same, but that of its workflows nothing is registered: for a worker, which only carries out calls. */
PAWL_API pawl_status pawl_load_functions(pawl_engine *engine, const char *path,
                                         struct pawl_error *error) PAWL_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
