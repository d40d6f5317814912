/* deferred.c - completes deferreds by name.  Tests may see what otherwise only the holder of a token knows. */
#include "base/error.h"
#include "service/service.h"
#include "testing/world.h"

/* Finds the deferred with this name in the current run. */
static pawl_status find_deferred(pawl_world *world, struct pw_arena *arena, const struct pw_instance *instance,
                                 struct pw_text name, const struct pw_step_row **out_step, struct pawl_error *error)
{
    struct pw_history_query query = { .instance = instance->key, .run = instance->run, .max = SIZE_MAX };
    struct pw_step_row *rows = NULL;
    size_t count = 0;
    PAWL_TRY(pw_read_steps(world->engine->store, arena, &query, &rows, &count, error));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind == PAWL_STEP_DEFERRED && pw_text_equal(rows[i].name, name)) {
            *out_step = &rows[i];
            return PAWL_OK;
        }
    }
    return pw_error(error, PAWL_INVALID_STEP_NAME, "run %lld of instance \"%s\" has no deferred \"%.80s\" yet",
                    (long long)instance->run, instance->id.data, name.data);
}

pawl_status pawl_world_deferred_token(pawl_world *world, const char *workflow, const char *id, const char *deferred,
                                      const char **out_token, struct pawl_error *error)
{
    struct pw_arena arena = { 0 };
    struct pw_instance instance;
    const struct pw_step_row *step = NULL;
    if (world == NULL || workflow == NULL || id == NULL || deferred == NULL || out_token == NULL)
        return pw_error(error, PAWL_INVALID, "a deferred is found by a world, a workflow, an id and its name");
    struct pw_store *store = world->engine->store;
    pawl_status status = pw_read_instance(store, &arena, pw_text_of(workflow), pw_text_of(id), &instance, error);
    if (status == PAWL_OK)
        status = find_deferred(world, &arena, &instance, pw_text_trim(pw_text_of(deferred)), &step, error);
    if (status == PAWL_OK) {
        const char *token =
            pw_deferred_token(&arena, instance.workflow, instance.id, instance.run, step->seq, step->wait_event_type);
        token = token != NULL ? pawl_scope_format(world->scope, "%s", token) : NULL;
        if (token != NULL)
            *out_token = token;
        else
            status = pw_error_plain(error, PAWL_NOMEM);
    }
    pw_arena_clear(&arena);
    return status;
}

pawl_status pawl_world_deferred_succeed(pawl_world *world, const char *workflow, const char *id, const char *deferred,
                                        const char *result_json, struct pawl_error *error)
{
    const char *token;
    PAWL_TRY(pawl_world_deferred_token(world, workflow, id, deferred, &token, error));
    return pawl_deferred_succeed(world->engine, token, result_json, error);
}

pawl_status pawl_world_deferred_fail(pawl_world *world, const char *workflow, const char *id, const char *deferred,
                                     const char *error_name, const char *error_message, struct pawl_error *error)
{
    const char *token;
    PAWL_TRY(pawl_world_deferred_token(world, workflow, id, deferred, &token, error));
    return pawl_deferred_fail(world->engine, token, error_name, error_message, error);
}
