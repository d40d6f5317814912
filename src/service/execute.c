/* execute.c - runs an instance by a key that the caller chooses.  A repeated call gets what the first call began.
 *
 * The id is a collision-resistant hash of workflow and key.  So the store's own rule that an id exists once makes
 * many calls one execution. */
#include "base/error.h"
#include "base/sha256.h"
#include "service/check.h"

enum { KEY_SIZE_MAX = 1024, DIGEST_USED = (PAWL_EXECUTION_ID_SIZE - 1) / 2 };

static pawl_status check_key(const char *key, struct pawl_error *error)
{
    size_t size = key != NULL ? strlen(key) : 0;
    if (size >= 1 && size <= KEY_SIZE_MAX)
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID, "a key of %zu bytes is out of range; it has 1 to %d", size, KEY_SIZE_MAX);
}

pawl_status pawl_execution_id(const char *workflow, const char *key, char out_id[PAWL_EXECUTION_ID_SIZE],
                              struct pawl_error *error)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[PW_SHA256_SIZE];
    struct pw_sha256 hash;
    PAWL_TRY(pw_check_given(workflow, "workflow", error));
    PAWL_TRY(pw_check_given(out_id, "out_id", error));
    PAWL_TRY(check_key(key, error));
    pw_sha256_init(&hash);
    pw_sha256_add(&hash, workflow, strlen(workflow) + 1); /* with the NUL, which separates the two */
    pw_sha256_add(&hash, key, strlen(key));
    pw_sha256_end(&hash, digest);
    for (size_t i = 0; i < DIGEST_USED; i++) {
        out_id[2 * i] = digits[digest[i] >> 4];
        out_id[2 * i + 1] = digits[digest[i] & 15];
    }
    out_id[PAWL_EXECUTION_ID_SIZE - 1] = '\0';
    return PAWL_OK;
}

static pawl_status begin_and_wait(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                  const struct pawl_execute_options *options, struct pawl_instance *out_instance,
                                  struct pawl_error *error)
{
    struct pawl_create_options create = PAWL_CREATE_OPTIONS_INIT;
    create.id = id;
    create.params_json = options->params_json;
    create.return_existing = true;
    pawl_status status = pawl_create(engine, scope, workflow, &create, out_instance, error);
    if (status != PAWL_OK || options->discard)
        return status;
    int64_t timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : INT64_MAX;
    return pawl_wait(engine, scope, workflow, id, timeout_ms, out_instance, error);
}

pawl_status pawl_execute(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                         const struct pawl_execute_options *options, struct pawl_instance *out_instance,
                         struct pawl_error *error)
{
    struct pawl_execute_options known = PAWL_EXECUTE_OPTIONS_INIT;
    struct pw_definition *definition;
    char id[PAWL_EXECUTION_ID_SIZE];
    PAWL_TRY(pw_check_workflow(engine, workflow, &definition, error));
    PAWL_TRY(pw_check_given(scope, "scope", error));
    PAWL_TRY(pw_check_given(out_instance, "out_instance", error));
    PAWL_TRY(pw_check_options(options, &known, sizeof known, error));
    if (known.timeout_ms < 0)
        return pw_error(error, PAWL_INVALID, "a timeout is 1 ms or more, or 0 for none, not %lld",
                        (long long)known.timeout_ms);
    if (known.key != NULL)
        PAWL_TRY(pawl_execution_id(workflow, known.key, id, error));
    if (known.key == NULL)
        pw_engine_make_id(engine, id);
    if (definition->run_inline != NULL)
        return definition->run_inline(engine, scope, workflow, id, known.params_json, definition->user, out_instance,
                                      error);
    return begin_and_wait(engine, scope, workflow, id, &known, out_instance, error);
}

pawl_status pawl_poll(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *key,
                      struct pawl_instance *out_instance, struct pawl_error *error)
{
    char id[PAWL_EXECUTION_ID_SIZE];
    PAWL_TRY(pawl_execution_id(workflow, key, id, error));
    return pawl_get(engine, scope, workflow, id, out_instance, error);
}
