/* contract_world.h - what the contract tests share: a simulated world on every store, and once more on a file with
 * every turn and pass replayed.
 *
 * Workflows and steps find the fixture with pawl_run_user() and pawl_step_user().  They must not check anything
 * themselves, because a failed check leaves by a longjmp.  They write what they see into the trace, and the test
 * reads it afterwards.  Unless said otherwise the workflow is "w" and its instance "i". */
#ifndef TESTS_CONTRACT_WORLD_H
#define TESTS_CONTRACT_WORLD_H

#include "pawl/testing.h"
#include "test.h"

#define CONTRACT_START_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00.000Z */
#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

struct contract {
    pawl_world *world;
    pawl_engine *engine;
    pawl_scope *scope; /* the test's; outlives every world */
    struct store_place place;
    bool in_file; /* or in a database, so that it can be opened again */
    bool replays;
    const char *url;
    pawl_workflow_fn *run; /* the current function of "w" */
    struct pawl_error error;

    char trace[8192];
    /* For the test's workflows to use as they like. */
    int bodies, passes;
    int64_t number, moments[64];
    size_t moment_count;
    const struct pawl_step_options *options;
    const char *text;
};

/* TEST_OF(contract, ...) runs on every store and replayed.  TEST_IN(contract_of_passes, contract, ...) counts the
 * calls of the workflow function, so it does not run replayed. */
extern const struct test_setting contract_setting, contract_of_passes;

/* ---- Preparing ------------------------------------------------------------------------------------------------- */

/* Opens the world again with other options.  Nothing may have happened before. */
void contract_open_with(struct contract *contract, struct pawl_limits limits, uint64_t seed);
void contract_register(struct contract *contract, const char *name, pawl_workflow_fn *run);
/* The same with `user` set to the fixture. */
void contract_register_as(struct contract *contract, struct pawl_workflow workflow);
/* Registers a function for pawl_call() and pawl_invoke().  Its user is the fixture. */
void contract_register_function(struct contract *contract, const char *name, pawl_step_fn *run);
/* Registers the function as "w" and creates "i". */
void contract_create(struct contract *contract, pawl_workflow_fn *run, const char *params_json);
/* The same, then runs until nothing is due. */
void contract_start(struct contract *contract, pawl_workflow_fn *run, const char *params_json);
/* Replaces the function of "w".  If the store is a file or a database, a new engine opens it, as after a deployment. */
void contract_deploy(struct contract *contract, pawl_workflow_fn *run);

/* ---- Acting ----------------------------------------------------------------------------------------------------- */

void contract_idle(struct contract *contract);
void contract_advance(struct contract *contract, const char *duration);
void contract_jump(struct contract *contract, int64_t by_ms);
/* Advances time without the world's runner until the other runner may take its leases, then ticks that one once. */
pawl_status contract_take_over(struct contract *contract, pawl_runner *other, int64_t *out_processed);
int64_t contract_now(const struct contract *contract);
/* Ticks once and returns how many turns that took: 0 or 1. */
int64_t contract_tick(struct contract *contract);
void contract_send(struct contract *contract, const char *type, const char *payload_json);
pawl_status contract_send_id(struct contract *contract, const char *type, const char *payload_json,
                             const char *event_id);

typedef pawl_status contract_control_fn(pawl_engine *engine, const char *workflow, const char *id,
                                        struct pawl_error *error);
/* Applies the control to "i".  It must succeed. */
void contract_control(struct contract *contract, contract_control_fn *control);

/* Runs SQL on the store's own connection: any on the test's tables, reads on Pawl's. */
void contract_execute(struct contract *contract, const char *sql);
int64_t contract_query(struct contract *contract, const char *sql);

/* ---- In workflows and steps --------------------------------------------------------------------------------------- */

void contract_trace(struct contract *contract, const char *format, ...) PAWL_PRINTF(2, 3);
/* Bodies that count their calls.  The second fails with "Broken", "attempt <n>". */
pawl_status contract_body_ok(pawl_step *step, const pawl_value *input, pawl_value **out_result); /* returns its input */
pawl_status contract_body_fails(pawl_step *step, const pawl_value *input, pawl_value **out_result);
/* Returns a text of that size in the scope, or NULL without memory. */
char *contract_long_text(pawl_scope *scope, size_t size);

/* Writes the value as JSON into the trace, and nothing for no value. */
void contract_trace_value(struct contract *contract, pawl_scope *scope, const pawl_value *value);
/* A body that writes "<its name> <its input>; " into the trace and has no result. */
pawl_status contract_body_traces(pawl_step *step, const pawl_value *input, pawl_value **out_result);

/* JSON of values that must never be confused: no value, null, zero, false and the empty text. */
enum { CONTRACT_DISTINCT_COUNT = 5 };
extern const char *const contract_distinct[CONTRACT_DISTINCT_COUNT];
/* Opens a new world, for the next of them. */
void contract_begin_again(struct contract *contract);

/* ---- Checking ------------------------------------------------------------------------------------------------------- */

struct pawl_instance contract_get(struct contract *contract);
/* Returns the only child that "i" created in any of its runs. */
struct pawl_instance contract_child(struct contract *contract);
/* Returns the step, which must exist. */
struct pawl_step_record contract_step(struct contract *contract, const char *name);
bool contract_has_step(struct contract *contract, const char *name);
struct pawl_history contract_history(struct contract *contract, int64_t run_number); /* 0: the current one */
int64_t contract_next_wake(struct contract *contract);

void assert_ok_at(struct contract *contract, pawl_status status, const char *file, int line);
#define assert_ok(contract, call) assert_ok_at(contract, call, __FILE__, __LINE__)
void assert_status_at(pawl_status status, pawl_status expected, const char *file, int line);
#define assert_status(call, expected) assert_status_at(call, expected, __FILE__, __LINE__)
void assert_instance_at(struct contract *contract, enum pawl_instance_status expected, const char *file, int line);
#define assert_instance(contract, expected) assert_instance_at(contract, expected, __FILE__, __LINE__)
/* The instance is complete with this output; NULL: no result. */
void assert_output_at(struct contract *contract, const char *output_json, const char *file, int line);
#define assert_output(contract, output_json) assert_output_at(contract, output_json, __FILE__, __LINE__)
/* The instance has failed with this error. message NULL: any. */
void assert_errored_at(struct contract *contract, const char *name, const char *message, const char *file, int line);
#define assert_errored(contract, name, message) assert_errored_at(contract, name, message, __FILE__, __LINE__)
void assert_text_at(const char *text, const char *expected, const char *file, int line);
/* Either may be NULL. */
#define assert_text(text, expected) assert_text_at(text, expected, __FILE__, __LINE__)
void assert_says_at(const char *text, const char *word, const char *file, int line);
#define assert_says(text, word) assert_says_at(text, word, __FILE__, __LINE__)

#endif
