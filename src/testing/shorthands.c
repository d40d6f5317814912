/* shorthands.c - short forms of the calls of service.h for tests: on the world's engine, into the world's scope. */
#include "base/error.h"
#include "base/limits.h"
#include "testing/world.h"
#include "value/value.h"

pawl_status pawl_world_create(pawl_world *world, const char *workflow, const char *id, const char *params_json,
                              struct pawl_error *error)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    options.id = id;
    options.params_json = params_json;
    return pawl_create(pawl_world_engine(world), pawl_world_scope(world), workflow, &options, &instance, error);
}

pawl_status pawl_world_send_event(pawl_world *world, const char *workflow, const char *id, const char *type,
                                  const char *payload_json, struct pawl_error *error)
{
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    options.type = type;
    options.payload_json = payload_json;
    return pawl_send_event(pawl_world_engine(world), pawl_world_scope(world), workflow, id, &options, NULL, error);
}

pawl_status pawl_world_get(pawl_world *world, const char *workflow, const char *id, struct pawl_instance *out_instance,
                           struct pawl_error *error)
{
    return pawl_get(pawl_world_engine(world), pawl_world_scope(world), workflow, id, out_instance, error);
}

/* ---- The whole history --------------------------------------------------------------------------------------- */

/* The rows of one kind from all pages so far.  Older, smaller arrays stay in the scope; together they are no larger
 * than the newest. */
struct gathered {
    unsigned char *rows;
    size_t row_size, count, capacity;
    const char *cursor;
    bool complete;
};

static bool gather(pawl_scope *scope, struct gathered *all, const void *rows, size_t count, const char *cursor)
{
    if (all->complete)
        return true; /* without a cursor this is the first page again */
    if (all->count + count > all->capacity) {
        size_t capacity = (all->count + count) * 2;
        unsigned char *larger = pw_scope_take(scope, capacity * all->row_size);
        if (larger == NULL)
            return false;
        if (all->count > 0)
            memcpy(larger, all->rows, all->count * all->row_size);
        all->rows = larger;
        all->capacity = capacity;
    }
    if (count > 0)
        memcpy(all->rows + all->count * all->row_size, rows, count * all->row_size);
    all->count += count;
    all->cursor = cursor;
    all->complete = cursor == NULL;
    return true;
}

pawl_status pawl_world_history(pawl_world *world, const char *workflow, const char *id, int64_t run_number,
                               struct pawl_history *out_history, struct pawl_error *error)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct gathered steps = { .row_size = sizeof(struct pawl_step_record) };
    struct gathered events = { .row_size = sizeof(struct pawl_event_record) };
    struct gathered logs = { .row_size = sizeof(struct pawl_log_record) };
    struct pawl_history page;
    pawl_scope *scope = pawl_world_scope(world);
    if (out_history == NULL)
        return pw_error(error, PAWL_INVALID, "out_history is missing (NULL)");
    options.run_number = run_number;
    options.page_size = PW_PAGE_SIZE_MAX;
    options.include_logs = true;
    while (!steps.complete || !events.complete || !logs.complete) {
        options.steps_cursor = steps.cursor;
        options.events_cursor = events.cursor;
        options.logs_cursor = logs.cursor;
        PAWL_TRY(pawl_get_history(pawl_world_engine(world), scope, workflow, id, &options, &page, error));
        options.run_number = page.run_number;
        if (!gather(scope, &steps, page.steps, page.step_count, page.steps_cursor) ||
            !gather(scope, &events, page.events, page.event_count, page.events_cursor) ||
            !gather(scope, &logs, page.logs, page.log_count, page.logs_cursor))
            return pw_error_plain(error, PAWL_NOMEM);
    }
    *out_history = (struct pawl_history){ .run_number = page.run_number,
                                          .steps = (const struct pawl_step_record *)(const void *)steps.rows,
                                          .step_count = steps.count,
                                          .events = (const struct pawl_event_record *)(const void *)events.rows,
                                          .event_count = events.count,
                                          .logs = (const struct pawl_log_record *)(const void *)logs.rows,
                                          .log_count = logs.count };
    return PAWL_OK;
}

const struct pawl_step_record *pawl_world_step(pawl_world *world, const char *workflow, const char *id,
                                               const char *step)
{
    struct pawl_history history;
    if (step == NULL || pawl_world_history(world, workflow, id, 0, &history, NULL) != PAWL_OK)
        return NULL;
    for (size_t i = 0; i < history.step_count; i++) {
        if (strcmp(history.steps[i].name, step) == 0)
            return &history.steps[i];
    }
    return NULL;
}
