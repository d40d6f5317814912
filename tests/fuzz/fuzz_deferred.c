/* fuzz_deferred.c - tokens of deferreds, from anybody.  The first byte chooses how one is completed, the second how the rest
 * is meant: as a token's text, or as a change of one that is right: a place in it, and what stands there instead.
 *
 * A token that is none is PAWL_INVALID_TOKEN; the right one completes its deferred, once; the same again is fine, and anything
 * else is PAWL_DEFERRED_COMPLETED.  What became of the deferred is what the one who had its token said, and nobody else. */
#include <stdio.h>

#include "fuzz_store.h"

enum { DEFERREDS = 3, TOKEN_MAX = 400 };

struct asking {
    struct fuzz_store store;
    char tokens[DEFERREDS][TOKEN_MAX]; /* open, completed, of a run that is over */
};

static const char *const ids[DEFERREDS] = { "open", "answered", "over" };

static pawl_status ask(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    struct asking *asking = pawl_run_user(run);
    const char *token = NULL;
    (void)params;
    PAWL_TRY(pawl_deferred_token(run, "ask", &token));
    for (size_t i = 0; i < DEFERREDS; i++) {
        if (strcmp(ids[i], pawl_run_id(run)) == 0)
            (void)snprintf(asking->tokens[i], TOKEN_MAX, "%s", token);
    }
    return pawl_await_deferred(run, "ask", "1 day", out_result);
}

static struct asking *shared(void)
{
    static struct asking asking;
    struct fuzz_store *store = &asking.store;
    if (store->engine != NULL)
        return &asking;
    pawl_status status = fuzz_store_open(store, "sqlite::memory:");
    const struct pawl_workflow workflow = { .name = "ask", .run = ask, .user = &asking };
    if (status == PAWL_OK)
        status = pawl_register(store->engine, &workflow, NULL);
    for (size_t i = 0; status == PAWL_OK && i < DEFERREDS; i++) {
        struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
        struct pawl_instance instance;
        pawl_scope *scope = pawl_scope_new();
        options.id = ids[i];
        status = pawl_create(store->engine, scope, "ask", &options, &instance, NULL);
        pawl_scope_free(scope);
    }
    (void)fuzz_store_run(store, 1);
    if (status == PAWL_OK)
        status = pawl_pause(store->engine, "ask", "answered", NULL);
    if (status == PAWL_OK)
        status = pawl_deferred_succeed(store->engine, asking.tokens[1], "1", NULL);
    if (status == PAWL_OK)
        status = pawl_terminate(store->engine, "ask", "over", NULL);
    assert(status == PAWL_OK && asking.tokens[0][0] != '\0' && asking.tokens[2][0] != '\0');
    fuzz_store_save(store);
    return &asking;
}

/* One that is right, with the bytes written over it from a place on; or cut there. */
static char *forge(const char *token, struct fuzz_input *input)
{
    char *forged = fuzz_string(pw_text_of(token));
    size_t place = fuzz_choice(input, 256) % strlen(token);
    struct pw_text rest = fuzz_rest(input);
    if (rest.size == 0)
        forged[place] = '\0';
    for (size_t i = 0; i < rest.size && forged[place + i] != '\0'; i++)
        forged[place + i] = rest.data[i];
    return forged;
}

static pawl_status complete(struct asking *asking, const char *token, size_t how, struct pawl_error *error)
{
    pawl_engine *engine = asking->store.engine;
    switch (how) {
    case 0:
        return pawl_deferred_succeed(engine, token, NULL, error);
    case 1:
        return pawl_deferred_succeed(engine, token, "{\"by\": \"Ada\"}", error);
    case 2:
        return pawl_deferred_fail(engine, token, "Refused", NULL, error);
    default:
        return pawl_deferred_fail(engine, token, "Refused", "no", error);
    }
}

/* What each deferred came to once time has passed: by nobody it is timed out. */
static void check_end(struct asking *asking, size_t which, size_t how)
{
    static const enum pawl_instance_status ends[] = { PAWL_COMPLETE, PAWL_COMPLETE, PAWL_ERRORED, PAWL_ERRORED };
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    (void)fuzz_store_run(&asking->store, 8);
    pawl_status status = pawl_get(asking->store.engine, scope, "ask", "open", &instance, NULL);
    assert(status == PAWL_OK);
    if (which == 0)
        assert(instance.status == ends[how]);
    else
        assert(instance.status == PAWL_ERRORED && strcmp(instance.error_name, "WAIT_FOR_EVENT_TIMEOUT") == 0);
    if (which == 0 && how == 1)
        assert(strcmp(instance.output_json, "{\"by\": \"Ada\"}") == 0);
    pawl_scope_free(scope);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct asking *asking = shared();
    struct fuzz_input input = fuzz_input_of(data, size);
    struct pawl_error error = { PAWL_OK, "" };
    size_t how = fuzz_choice(&input, 4), meaning = fuzz_choice(&input, 1 + DEFERREDS), which = DEFERREDS;
    fuzz_store_restore(&asking->store);
    char *token = meaning == 0 ? fuzz_string(fuzz_rest(&input)) : forge(asking->tokens[meaning - 1], &input);
    for (size_t i = 0; i < DEFERREDS; i++)
        which = strcmp(token, asking->tokens[i]) == 0 ? i : which;
    pawl_status status = complete(asking, token, how, &error);
    assert(status == (which == 0 ? PAWL_OK : which == 1 ? PAWL_DEFERRED_COMPLETED : PAWL_INVALID_TOKEN));
    assert(status == PAWL_OK || (error.status == status && error.text[0] != '\0'));
    assert(strlen(token) < 32 || strstr(error.text, token) == NULL);
    if (which == 0) {
        status = complete(asking, token, how, NULL);
        assert(status == PAWL_OK);
        status = complete(asking, token, (how + 1) % 4, NULL);
        assert(status == PAWL_DEFERRED_COMPLETED);
    }
    check_end(asking, which, how);
    free(token);
    return 0;
}
