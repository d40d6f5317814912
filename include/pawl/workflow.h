/* workflow.h - writing workflows and steps in C.
 *
 * A workflow is an ordinary function that each turn runs from the top.  Its durable calls (pawl_do, pawl_sleep, ...)
 * return recorded results from history for everything that happened before, and go on from there.  So:
 *   - effects belong in steps, because code outside steps may run again at any time;
 *   - give each step a name that is the same at every replay; in loops, put the index into it (pawl_run_format);
 *   - a step may be tried again, so make what it does safe to repeat;
 *   - if a durable call returns anything but PAWL_OK, return it up.  PAWL_TRY does that.  PAWL_SUSPENDED means that the run is
 *     parked and nothing is lost.  It is sticky, so forgetting to return is harmless.  PAWL_INTERRUPTED means that somebody asked
 *     the run to stop: its steps are undone (struct pawl_compensation), whatever the function returns.
 *
 * Values that are handed out live until the turn ends, and values made in a step until the step ends.  There is
 * nothing to free.  This layer is built on engine.h alone. */
#ifndef PAWL_WORKFLOW_H
#define PAWL_WORKFLOW_H

#include "engine.h"
#include "value.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pawl_run pawl_run;   /* a run, or one of its parallel branches */
typedef struct pawl_step pawl_step; /* one attempt at a step's body */

/* A workflow, or a parallel branch of one.  *out_result is NULL ("no result") unless it is set. */
typedef pawl_status pawl_workflow_fn(pawl_run *run, const pawl_value *params, pawl_value **out_result);
typedef pawl_status pawl_step_fn(pawl_step *step, const pawl_value *input, pawl_value **out_result);

#define PAWL_NO_RETRIES (-1)

struct pawl_compensation;

/* Zero and NULL mean the workflow's default.  Its default is 5 retries, 10 seconds, exponential, 10 minutes. */
struct pawl_step_options {
    int64_t retries;   /* 1 ... PAWL_RETRIES_UNLIMITED, or PAWL_NO_RETRIES */
    const char *delay; /* before a retry: "10 seconds" */
    enum pawl_backoff backoff;
    const char *timeout; /* per attempt: "10 minutes" */
    /* The fields below belong to a single step.  They must be unset in a workflow's defaults. */
    const char *description;                    /* for people, up to 1024 bytes; or NULL */
    const struct pawl_compensation *compensate; /* or NULL; copied, except what its function uses */
};

/* Undoes a completed step.  When the workflow function fails, or the run is interrupted or terminated with rollback,
 * the compensations of the completed steps run, newest first, as durable steps named "compensate: <step>".  No other
 * step may have such a name.  A name that would exceed 256 bytes is shortened and made unique by a number.
 *
 * The input is {"input": ..., "result": ...}: the input and the result of the step.  A key is missing if there was
 * none.  If a compensation fails for good, that is logged and the others still run.  The run then ends with the
 * error that it had; an interrupted or rolled back run ends with COMPENSATION_FAILED.  A failure that the workflow
 * handles itself undoes nothing. */
struct pawl_compensation {
    pawl_step_fn *undo;
    const struct pawl_step_options *options; /* NULL: the workflow's defaults.  Must not have a compensation */
};

enum pawl_mode {
    PAWL_MODE_REMOTE, /* durable, carried out by runners */
    /* pawl_execute() (service.h) runs it to its end in the calling thread, on a store in memory: for tests and development.  Its
     * sleeps really wait.  A wait that nothing in memory can end is refused. */
    PAWL_MODE_INLINE
};

struct pawl_workflow {
    const char *name; /* 1-64 of [a-zA-Z0-9_-], no leading - or _ */
    pawl_workflow_fn *run;
    const char *description;               /* or NULL */
    const char *const *tags;               /* or NULL; ends with a NULL */
    const struct pawl_step_options *steps; /* defaults for its steps, or NULL */
    struct pawl_limits limits;             /* zero: the engine's */
    void *user;                            /* the host's: pawl_run_user() */
    const char *const *permissions;        /* that a caller needs (http.h); ends with a NULL; or NULL */
    enum pawl_mode mode;
    /* If a step (do, process, call, child) fails for good, the run is paused instead of getting the failure.
     * Somebody fixes the cause and resumes the run, and the step is tried again from its first attempt. */
    bool suspend_on_failure;
    /* The version of its code: 1-64 of [a-zA-Z0-9._-]; or NULL.  Each run that begins here records it, and
     * pawl_list() can filter by it.  It decides nothing else: this code also carries on runs that other versions
     * began. */
    const char *version;
};

/* Registers a workflow.  Call it before the runner starts.  Everything is copied, except what `user` points at. */
PAWL_API pawl_status pawl_register(pawl_engine *engine, const struct pawl_workflow *workflow,
                                   struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- In a workflow ------------------------------------------------------------------------------------------- */

/* Runs `body` as a step of this name, at most once to completion.  PAWL_OK: *out_result is its result, now and at
 * every replay (out_result may be NULL).  PAWL_FAILED: it failed for good; pawl_run_failure() says why.  options may
 * be NULL.  `input` is passed to the body.  While branches run, another thread may call `body`. */
PAWL_API pawl_status pawl_do(pawl_run *run, const char *name, const struct pawl_step_options *options,
                             pawl_step_fn *body, const pawl_value *input, pawl_value **out_result) PAWL_MUST_CHECK;

/* Runs a program as a step.  The program reads the input as JSON from its standard input (nothing if there is no
 * input) and writes its result as JSON to its standard output (nothing: no result).  Exit code 0 is success.
 * Anything else fails the attempt; the message has the exit code and the end of its standard error (PROCESS_FAILED;
 * PROCESS_NOT_STARTED; PROCESS_OUTPUT_INVALID).  If it succeeds, its standard error is logged.
 *
 * The program runs in a process group of its own.  The whole group is killed at the timeout, when another process
 * moves the run on, when the program ends, and when the host ends, even by kill -9.  So its timeout is hard.  A
 * process that leaves the group (setsid) is not killed.  Its environment has PAWL_WORKFLOW, PAWL_INSTANCE_ID,
 * PAWL_RUN_NUMBER, PAWL_STEP and PAWL_ATTEMPT. */
struct pawl_process {
    const char *const *arguments;   /* the program, by path or found in PATH, and its arguments; ends with a NULL */
    const char *const *environment; /* "NAME=value", added to the host's environment; ends with a NULL; or NULL */
    const char *directory;          /* the working directory; NULL: the host's */
    int exit_code_for_good;         /* an exit code that fails the step for good; 0: there is none */
};
PAWL_API pawl_status pawl_do_process(pawl_run *run, const char *name, const struct pawl_step_options *options,
                                     const struct pawl_process *process, const pawl_value *input,
                                     pawl_value **out_result) PAWL_MUST_CHECK;

/* "1 hour", "90 s", "250 ms"; a bare number is milliseconds.  At most 365 days. */
PAWL_API pawl_status pawl_sleep(pawl_run *run, const char *name, const char *duration) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_sleep_ms(pawl_run *run, const char *name, int64_t duration_ms) PAWL_MUST_CHECK;
/* wake_at_ms is in milliseconds since 1970.  A time in the past ends the sleep at once. */
PAWL_API pawl_status pawl_sleep_until(pawl_run *run, const char *name, int64_t wake_at_ms) PAWL_MUST_CHECK;

struct pawl_event {
    const char *type;
    pawl_value *payload; /* NULL: none */
    int64_t sent_at_ms;
};

/* Takes the oldest event of the type that no step has taken yet.  timeout NULL: 24 hours.
 * PAWL_WAIT_FOR_EVENT_TIMEOUT: none came in time; the workflow may handle that and go on. */
PAWL_API pawl_status pawl_wait_for_event(pawl_run *run, const char *name, const char *type, const char *timeout,
                                         struct pawl_event *out_event) PAWL_MUST_CHECK;

/* ---- What others finish ---------------------------------------------------------------------------------------- */

/* A step that a worker carries out: a runner on this store that has registered the function, in this process or
 * another, or a program that claims jobs (service.h, docs/http.md).  `data` is passed to the function.  Retries and
 * timeout are the step's.  The timeout of an attempt counts from when a worker takes it.  Otherwise like pawl_do(). */
PAWL_API pawl_status pawl_call(pawl_run *run, const char *name, const char *function,
                               const struct pawl_step_options *options, const pawl_value *data,
                               pawl_value **out_result) PAWL_MUST_CHECK;

/* Calls a function that is registered with this engine, here and now.  Nothing is recorded, and a replay calls it
 * again.  PAWL_FAILED: it failed; pawl_run_failure() says why.  It is not a step: in it, pawl_step_log() and
 * everything that registers something with a step's completion return PAWL_INVALID, and it has no deadline. */
PAWL_API pawl_status pawl_invoke(pawl_run *run, const char *function, const pawl_value *data,
                                 pawl_value **out_result) PAWL_MUST_CHECK;

/* Zero and NULL mean the default in each comment. */
struct pawl_child_options {
    const char *id; /* NULL: generated */
    bool detached;  /* false: it is terminated and interrupted together with its parent */
};

/* A step that creates an instance of another workflow and does not wait for it.  An id that exists fails the step.
 * options may be NULL.  out_id (or NULL): its id, valid until the turn ends. */
PAWL_API pawl_status pawl_start_child(pawl_run *run, const char *name, const char *workflow,
                                      const struct pawl_child_options *options, const pawl_value *params,
                                      const char **out_id) PAWL_MUST_CHECK;
/* A step that waits for the end of an instance that this one created.  PAWL_OK: *out_result is its result.
 * PAWL_FAILED: it failed; pawl_run_failure() gives its error, or CHILD_TERMINATED if it was terminated. */
PAWL_API pawl_status pawl_await_child(pawl_run *run, const char *name, const char *workflow, const char *id,
                                      pawl_value **out_result) PAWL_MUST_CHECK;
/* pawl_start_child() and pawl_await_child() together, as the steps "<name>" and "await: <name>". */
PAWL_API pawl_status pawl_run_child(pawl_run *run, const char *name, const char *workflow,
                                    const struct pawl_child_options *options, const pawl_value *params,
                                    pawl_value **out_result) PAWL_MUST_CHECK;

/* The token of the deferred of this name: a text that cannot be guessed, the same at every replay.  Whoever has it
 * completes the deferred, once, before or after the run waits for it (service.h: pawl_deferred_succeed,
 * pawl_deferred_fail). */
PAWL_API pawl_status pawl_deferred_token(pawl_run *run, const char *name, const char **out_token) PAWL_MUST_CHECK;
/* Waits until the deferred is completed.  timeout NULL: no limit.  PAWL_FAILED: it was failed; pawl_run_failure()
 * gives the error.  PAWL_WAIT_FOR_EVENT_TIMEOUT: it was not completed in time. */
PAWL_API pawl_status pawl_await_deferred(pawl_run *run, const char *name, const char *timeout,
                                         pawl_value **out_result) PAWL_MUST_CHECK;

/* ---- Branches -------------------------------------------------------------------------------------------------- */

struct pawl_branch {
    pawl_workflow_fn *run;
    const pawl_value *input;
    pawl_value *result; /* out: when status is PAWL_OK */
    pawl_status status; /* out */
};

/* Runs the branches at the same time, at most `limit` (0: no limit) begun and unfinished.  Each branch has its own
 * steps and waits, whose names must differ from those of the other branches.  Returns when all branches have
 * finished: PAWL_OK, or the status of the first failed one by position.  Each branch holds its own status and
 * result.  The name is for people: history shows it as the place of the branches' steps. */
PAWL_API pawl_status pawl_all(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count,
                              size_t limit) PAWL_MUST_CHECK;

/* Runs the branches until one has finished, which is recorded under the name.  The others are abandoned.  Returns
 * the status of the winner. */
PAWL_API pawl_status pawl_first(pawl_run *run, const char *name, struct pawl_branch *branches, size_t count,
                                size_t *out_winner) PAWL_MUST_CHECK;

/* Builds the result (value.h: pawl_value_pack) and returns: `return pawl_return(run, out_result, "{s:i}", "n", 1);` */
PAWL_API pawl_status pawl_return(pawl_run *run, pawl_value **out_result, const char *format, ...) PAWL_MUST_CHECK;

/* Fails the run: `return pawl_run_fail(run, "NotApproved", "order %s was refused", id);` */
PAWL_API pawl_status pawl_run_fail(pawl_run *run, const char *error_name, const char *format, ...) PAWL_MUST_CHECK
    PAWL_PRINTF(3, 4);

/* Adds a durable log line.  category NULL: "workflow".  data may be NULL. */
PAWL_API pawl_status pawl_log(pawl_run *run, enum pawl_log_level level, const char *category, const pawl_value *data,
                              const char *format, ...) PAWL_MUST_CHECK PAWL_PRINTF(5, 6);

struct pawl_failure {
    const char *name;    /* "CardDeclined", "WAIT_FOR_EVENT_TIMEOUT"; "" if nothing has failed yet */
    const char *message; /* never NULL */
};
/* The error of the last durable call of this run or branch that did not succeed.  Valid until the turn ends. */
PAWL_API struct pawl_failure pawl_run_failure(const pawl_run *run);

/* Facts about the run.  Texts are valid until the turn ends. */
PAWL_API const char *pawl_run_workflow(const pawl_run *run);
PAWL_API const char *pawl_run_id(const pawl_run *run);
PAWL_API int64_t pawl_run_number(const pawl_run *run);
PAWL_API int64_t pawl_run_created_at_ms(const pawl_run *run); /* the same at every replay */
PAWL_API void *pawl_run_user(const pawl_run *run);
PAWL_API pawl_scope *pawl_run_scope(pawl_run *run);
PAWL_API pawl_engine *pawl_run_engine(const pawl_run *run);
/* The instance whose step created this one.  NULL: none. */
PAWL_API const struct pawl_parent *pawl_run_parent(const pawl_run *run);
/* Formats a text in the run's scope, as printf does, for names with an index.  NULL when memory is out; every call
 * that takes a name answers that with PAWL_NOMEM. */
PAWL_API const char *pawl_run_format(pawl_run *run, const char *format, ...) PAWL_PRINTF(2, 3);

/* ---- In a step ------------------------------------------------------------------------------------------------ */

/* Builds the step's result: `return pawl_result(step, out_result, "{s:s}", "receipt", id);` */
PAWL_API pawl_status pawl_result(pawl_step *step, pawl_value **out_result, const char *format, ...) PAWL_MUST_CHECK;

/* Fails the attempt; the step is tried again as its options say.  Any other failure status that a body returns does
 * the same. */
PAWL_API pawl_status pawl_fail(pawl_step *step, const char *error_name, const char *format, ...) PAWL_MUST_CHECK
    PAWL_PRINTF(3, 4);
/* Fails the step for good. */
PAWL_API pawl_status pawl_fail_for_good(pawl_step *step, const char *error_name, const char *format,
                                        ...) PAWL_MUST_CHECK PAWL_PRINTF(3, 4);

/* Like pawl_log().  The line names the step and its attempt. */
PAWL_API pawl_status pawl_step_log(pawl_step *step, enum pawl_log_level level, const char *category,
                                   const pawl_value *data, const char *format, ...) PAWL_MUST_CHECK PAWL_PRINTF(5, 6);

/* Registers SQL for the transaction that records this step as completed: it runs once, together with that record or
 * not at all.  Parameters $1, $2 ... come from a pack format: pawl_step_sql(step, "INSERT INTO paid VALUES ($1,
 * $2)", "[s, i]", id, 3).  format NULL: none.  pawl_step_sql_on_failure() registers it for the transaction that
 * records that the step failed for good. */
PAWL_API pawl_status pawl_step_sql(pawl_step *step, const char *sql, const char *format, ...) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_step_sql_on_failure(pawl_step *step, const char *sql, const char *format,
                                              ...) PAWL_MUST_CHECK;
/* The same with a function, called with the store's own connection.  data is copied. */
PAWL_API pawl_status pawl_step_mutate(pawl_step *step, enum pawl_mutation_when when, pawl_mutation_fn *mutate,
                                      const void *data, size_t size) PAWL_MUST_CHECK;
/* Creates another instance, or sends an event to one, together with this step's completion.  An id that exists fails
 * the step for good.  instance_id NULL: generated.  The new instance knows its parent, but the parent cannot await
 * it and is not told of its end. */
PAWL_API pawl_status pawl_step_create(pawl_step *step, const char *workflow, const char *instance_id,
                                      const pawl_value *params) PAWL_MUST_CHECK;
/* Creates a child that can be awaited, attached or not.  out_id (or NULL): its id, valid until the turn ends. */
PAWL_API pawl_status pawl_step_create_child(pawl_step *step, const char *workflow, const char *instance_id,
                                            bool attached, const pawl_value *params,
                                            const char **out_id) PAWL_MUST_CHECK;
PAWL_API pawl_status pawl_step_send_event(pawl_step *step, const char *workflow, const char *instance_id,
                                          const char *type, const pawl_value *payload) PAWL_MUST_CHECK;

/* The step's name; for pawl_invoke(), the function's name. */
PAWL_API const char *pawl_step_name(const pawl_step *step);
/* The run that the step belongs to.  In a function that carries out a call, it is the job's run. */
PAWL_API const pawl_run *pawl_step_run(const pawl_step *step);
PAWL_API int64_t pawl_step_attempt(const pawl_step *step); /* from 1 */
/* When it times out, in wall time.  Use pawl_step_remaining_ms() to count down, because wall time may jump. */
PAWL_API int64_t pawl_step_deadline_ms(const pawl_step *step);
/* How long this attempt has left before it times out, unaffected by jumps of wall time.  0: it has timed out, or is
 * about to.  INT64_MAX for pawl_invoke(), which has no timeout. */
PAWL_API int64_t pawl_step_remaining_ms(const pawl_step *step);
/* True once the outcome of this attempt can no longer count.  Long bodies should check it now and then. */
PAWL_API bool pawl_step_cancelled(const pawl_step *step);
PAWL_API void *pawl_step_user(const pawl_step *step);
PAWL_API pawl_scope *pawl_step_scope(pawl_step *step);
PAWL_API pawl_engine *pawl_step_engine(const pawl_step *step);

/* ---- Functions: what pawl_call() and pawl_invoke() name ---------------------------------------------------------- */

/* `run` gets the call's data, and a step whose attempt is the call's attempt.  It may run in a different process
 * from the workflow, so everything that registers something with a step's completion (pawl_step_sql,
 * pawl_step_create ...) returns PAWL_INVALID in it. */
struct pawl_function {
    const char *name; /* 1-63 of [a-zA-Z0-9._-], not starting with - or a dot */
    pawl_step_fn *run;
    const char *description; /* or NULL */
    int32_t concurrency;     /* how many calls of it may run at once, over all workers with this limit; 0: no limit */
    void *user;              /* the host's: pawl_step_user() in the function */
};

/* Registers a function, which the runner then serves.  Call it before the runner starts.  Everything is copied,
 * except what `user` points at. */
PAWL_API pawl_status pawl_register_function(pawl_engine *engine, const struct pawl_function *function,
                                            struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Middleware ---------------------------------------------------------------------------------------------------- */

/* The wrapped code.  Call it with pawl_next_call(), at most once, which returns what the workflow function or the
 * body returned.  Without that call it does not run, and there is no result. */
typedef struct pawl_next pawl_next;
PAWL_API pawl_status pawl_next_call(pawl_next *next) PAWL_MUST_CHECK;

/* Wraps every call of every workflow function, replays included, and every body of a step or function.  Its return
 * value counts as that of the function or body.  A run that returned PAWL_SUSPENDED stays suspended. */
struct pawl_middleware {
    pawl_status (*around_run)(pawl_run *run, pawl_next *next, void *user);    /* or NULL */
    pawl_status (*around_step)(pawl_step *step, pawl_next *next, void *user); /* or NULL */
    void *user;
};

/* Registers middleware.  The first one registered is the outermost.  Call it before the runner starts.  Everything
 * is copied, except what `user` points at. */
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

/* PAWL_MODULE({ .name = "order", .run = order }, { .name = "refund", .run = refund }); exports a file's workflows.
 * Register them in the same program with pawl_register_module(engine, &pawl_module, &error), or load them from a
 * shared object.  PAWL_FUNCTIONS({ .name = "charge", .run = charge }); exports functions, with or without a
 * PAWL_MODULE in the same program or shared object. */
#ifdef __cplusplus
#define PAWL_MODULE_EXPORT extern "C" PAWL_API
#else
#define PAWL_MODULE_EXPORT extern PAWL_API
#endif
/* Lets PAWL_MODULE find the functions in the same object, if there are any.  It is weak so that it may be missing,
 * and hidden so that it never refers to another object's. */
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

/* Registers the workflows and functions of a module.  PAWL_MODULE_INVALID: it was built for another version. */
PAWL_API pawl_status pawl_register_module(pawl_engine *engine, const struct pawl_module *module,
                                          struct pawl_error *error) PAWL_MUST_CHECK;
/* Registers functions alone: pawl_register_functions(engine, &pawl_module_functions, &error). */
PAWL_API pawl_status pawl_register_functions(pawl_engine *engine, const struct pawl_module_functions *functions,
                                             struct pawl_error *error) PAWL_MUST_CHECK;
/* Loads a shared object and registers what it exports, which may be functions alone.  It stays loaded until the
 * engine is closed. */
PAWL_API pawl_status pawl_load_module(pawl_engine *engine, const char *path, struct pawl_error *error) PAWL_MUST_CHECK;
/* Like pawl_load_module(), but registers only the functions.  For workers that serve calls and run no workflows. */
PAWL_API pawl_status pawl_load_functions(pawl_engine *engine, const char *path,
                                         struct pawl_error *error) PAWL_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
