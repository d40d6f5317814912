/* fuzz_job.c - what workers say, and what stands in a job's row.  The first byte chooses what the worker says, the second how
 * the first line is meant: as a token, as a change of the right one from a place on, as nothing, or as the params of the
 * jobs, written past the engine.  The rest is the worker's answer: a result, or the name of an error and a line further its
 * message.
 *
 * Only the right token counts, and only once; an answer that cannot be taken is refused and leaves the job to be answered
 * rightly.  Params that are none of a job's are told as a corrupt store, or the job is passed over.  The runs end in any
 * case. */
#include <stdio.h>

#include "fuzz_store.h"

enum { TOKEN_MAX = 200, ROUNDS_MAX = 24, LEASE_MS = 60000 };
enum word { HEARTBEAT, COMPLETE, FAIL, FAIL_FOR_GOOD, WORDS };
enum meaning { A_TOKEN, A_CHANGE, NOTHING, PARAMS, PARAMS_AS_BLOB, MEANINGS };

struct calling {
    struct fuzz_store store;
    char token[TOKEN_MAX];
};

static pawl_status call(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES, .timeout = "1 hour" };
    return pawl_call(run, "ask", pawl_run_id(run), &once, params, out_result);
}

static pawl_status work_here(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    assert(pawl_step_name(step) != NULL);
    return pawl_result(step, out_result, "V", input);
}

static pawl_status claim(struct calling *calling, pawl_scope *scope, const struct pawl_job **out_jobs,
                         size_t *out_count)
{
    static const char *const functions[] = { "outside" };
    struct pawl_claim_options options = PAWL_CLAIM_OPTIONS_INIT;
    options.functions = functions;
    options.function_count = 1;
    options.lease_ms = LEASE_MS;
    return pawl_job_claim(calling->store.engine, scope, &options, out_jobs, out_count, NULL);
}

/* Both have made their jobs: one is claimed, the other is due for the runner. */
static void begin(struct calling *calling)
{
    const struct pawl_workflow workflow = { .name = "call", .run = call };
    const struct pawl_function function = { .name = "nearby", .run = work_here };
    static const struct pawl_batch_item items[] = { { "outside", "{\"n\": 1}" }, { "nearby", "[2]" } };
    pawl_engine *engine = calling->store.engine;
    struct pawl_instance *instances;
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    pawl_runner *runner = NULL;
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = pawl_register(engine, &workflow, NULL);
    if (status == PAWL_OK)
        status = pawl_register_function(engine, &function, NULL);
    if (status == PAWL_OK)
        status = pawl_runner_open(engine, NULL, &runner, NULL);
    for (int i = 0; i < 2 && status == PAWL_OK; i++) { /* one by one: the first one's job is not to be taken instead */
        status = pawl_create_batch(engine, scope, "call", &items[i], 1, &instances, &count, NULL);
        if (status == PAWL_OK)
            status = pawl_runner_tick(runner, 1, 0, NULL, NULL);
    }
    pawl_runner_close(runner);
    if (status == PAWL_OK)
        status = claim(calling, scope, &jobs, &count);
    assert(status == PAWL_OK && count == 1);
    (void)snprintf(calling->token, TOKEN_MAX, "%s", jobs[0].token);
    pawl_scope_free(scope);
}

static struct calling *shared(void)
{
    static struct calling calling;
    if (calling.store.engine == NULL) {
        pawl_status status = fuzz_store_open(&calling.store, "sqlite::memory:");
        assert(status == PAWL_OK);
        begin(&calling);
        fuzz_store_save(&calling.store);
    }
    return &calling;
}

/* ---- What is given -------------------------------------------------------------------------------------------------- */

static char *forge(const char *token, struct fuzz_input *line)
{
    char *forged = fuzz_string(pw_text_of(token));
    size_t place = fuzz_choice(line, 256) % strlen(token);
    struct pw_text rest = fuzz_rest(line);
    for (size_t i = 0; i < rest.size && forged[place + i] != '\0'; i++)
        forged[place + i] = rest.data[i];
    return forged;
}

static void write_params(struct fuzz_store *store, struct pw_text params, bool as_blob)
{
    static const char sql[] = "UPDATE workflow_instance SET params = ?1 WHERE workflow LIKE '@%'";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    assert(code == SQLITE_OK);
    if (as_blob)
        (void)sqlite3_bind_blob(statement, 1, params.data, (int)params.size, SQLITE_TRANSIENT);
    else
        (void)sqlite3_bind_text(statement, 1, params.data, (int)params.size, SQLITE_TRANSIENT);
    (void)sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
}

static pawl_status say(struct calling *calling, enum word word, const char *token, struct fuzz_input answer,
                       struct pawl_error *error)
{
    pawl_engine *engine = calling->store.engine;
    char *first = fuzz_string(word == COMPLETE ? fuzz_rest(&answer) : fuzz_line(&answer));
    char *second = fuzz_string(fuzz_rest(&answer));
    int64_t until_ms = 0;
    pawl_status status = PAWL_OK;
    if (word == HEARTBEAT)
        status = pawl_job_heartbeat(engine, token, strtoll(first, NULL, 10), &until_ms, error);
    else if (word == COMPLETE)
        status = pawl_job_complete(engine, token, first[0] != '\0' ? first : NULL, error);
    else
        status = pawl_job_fail(engine, token, first, second[0] != '\0' ? second : NULL, word == FAIL, error);
    assert(word != HEARTBEAT || status != PAWL_OK || until_ms > calling->store.now_ms);
    free(first);
    free(second);
    return status;
}

/* ---- What became of it ---------------------------------------------------------------------------------------------- */

/* The answer that was taken is what its run got. */
static void check_end(struct calling *calling, enum word word, bool is_taken, bool is_damaged)
{
    static const char *const ids[] = { "outside", "nearby" };
    pawl_scope *scope = pawl_scope_new();
    (void)fuzz_store_run(&calling->store, ROUNDS_MAX);
    for (size_t i = 0; i < 2; i++) {
        struct pawl_instance instance = { .id = NULL };
        pawl_status status = pawl_get(calling->store.engine, scope, "call", ids[i], &instance, NULL);
        assert(status == PAWL_OK && (instance.status == PAWL_COMPLETE || instance.status == PAWL_ERRORED));
        assert(instance.status != PAWL_ERRORED || instance.error_name[0] != '\0');
        bool is_complete = i == 0 ? is_taken && word == COMPLETE : instance.status == PAWL_COMPLETE;
        assert(is_complete == (instance.status == PAWL_COMPLETE));
        assert(i == 0 || is_damaged || instance.status == PAWL_COMPLETE);
    }
    pawl_scope_free(scope);
}

/* Another worker looks for what the first has not answered. */
static void claim_again(struct calling *calling)
{
    const struct pawl_job *jobs = NULL;
    size_t count = 0;
    pawl_scope *scope = pawl_scope_new();
    calling->store.now_ms += LEASE_MS + 1;
    pawl_status status = claim(calling, scope, &jobs, &count);
    assert(status == PAWL_OK && count <= 1);
    assert(count == 0 || (jobs[0].step != NULL && jobs[0].attempt > 0 && strcmp(jobs[0].function, "outside") == 0));
    pawl_scope_free(scope);
}

static bool is_refusal(pawl_status status, bool is_damaged)
{
    return status == PAWL_INVALID || status == PAWL_INVALID_JSON || status == PAWL_PAYLOAD_TOO_LARGE ||
           (is_damaged && (status == PAWL_STORE_CORRUPT || status == PAWL_JOB_GONE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct calling *calling = shared();
    struct fuzz_input input = fuzz_input_of(data, size);
    struct pawl_error error = { PAWL_OK, "" };
    enum word word = (enum word)fuzz_choice(&input, WORDS);
    enum meaning meaning = (enum meaning)fuzz_choice(&input, MEANINGS);
    struct pw_text line = fuzz_line(&input);
    struct fuzz_input place = { line.data, line.size };
    bool is_damaged = meaning == PARAMS || meaning == PARAMS_AS_BLOB;
    fuzz_store_restore(&calling->store);
    if (is_damaged)
        write_params(&calling->store, line, meaning == PARAMS_AS_BLOB);
    char *token = meaning == A_TOKEN    ? fuzz_string(line)
                  : meaning == A_CHANGE ? forge(calling->token, &place)
                                        : fuzz_string(pw_text_of(calling->token));
    bool is_right = strcmp(token, calling->token) == 0;
    pawl_status status = say(calling, word, token, input, &error);
    assert(status == PAWL_OK || (error.status == status && error.text[0] != '\0'));
    if (!is_right)
        assert(status == PAWL_INVALID_TOKEN || status == PAWL_JOB_GONE);
    else
        assert(status == PAWL_OK || is_refusal(status, is_damaged));
    bool is_taken = status == PAWL_OK && word != HEARTBEAT;
    if (is_taken) {
        status = say(calling, word, token, input, NULL);
        assert(status == PAWL_JOB_GONE);
    }
    claim_again(calling);
    check_end(calling, word, is_taken, is_damaged);
    free(token);
    return 0;
}
