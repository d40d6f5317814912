/* store.c - see store.h. */
#include "store.h"

#include <stdlib.h>

#include "plan.h"
#include "testing/forward.h"

struct fault_store {
    struct pw_forward forward;
    struct fault_store_options options;
};

static pawl_status say_failed(struct pawl_error *error)
{
    *error = (struct pawl_error){ PAWL_STORE_UNAVAILABLE, "the test's store fails as planned" };
    return PAWL_STORE_UNAVAILABLE;
}

static pawl_status apply(struct pw_store *store, struct pw_unit **units, size_t count, struct pawl_error *error)
{
    struct fault_store *own = (struct fault_store *)store;
    struct ledger *ledger = own->options.ledger;
    struct pw_store *inner = own->forward.inner;
    pawl_status status = PAWL_OK;
    if (own->options.before_commit != NULL)
        own->options.before_commit(own->options.user, ledger->commits + 1);
    if (fault_strikes(FAULT_APPLY_BEFORE))
        status = say_failed(error);
    if (status == PAWL_OK)
        status = inner->ops->apply(inner, units, count, error);
    bool told = !fault_strikes(FAULT_APPLY_AFTER);
    if (status == PAWL_OK) {
        ledger->commits++;
        for (size_t i = 0; i < count; i++) {
            if (units[i]->status == PAWL_OK)
                ledger_note(ledger, units[i], told);
        }
        if (own->options.after_commit != NULL)
            own->options.after_commit(own->options.user, ledger->commits);
    }
    if (status == PAWL_OK && !told)
        status = say_failed(error);
    for (size_t i = 0; status != PAWL_OK && i < count; i++)
        units[i]->status = status;
    return status;
}

/* A read that fails before it is made. */
#define FAIL_READ(error)                                                                                               \
    do {                                                                                                               \
        if (fault_strikes(FAULT_STORE_READ)) {                                                                         \
            struct pawl_error unheard;                                                                                 \
            return say_failed((error) != NULL ? (error) : &unheard);                                                   \
        }                                                                                                              \
    } while (0)

static pawl_status read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                 struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_instance(inner, arena, workflow, id, out_instance, error);
}

static pawl_status read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                bool *out_has_step, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_current(inner, arena, workflow, id, out_instance, out_step, out_has_step, error);
}

static pawl_status read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                        struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_instance_by_key(inner, arena, key, out_instance, error);
}

static pawl_status list_instances(struct pw_store *store, struct pw_arena *arena, const struct pw_instance_query *query,
                                  struct pw_instance **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->list_instances(inner, arena, query, out_rows, out_count, error);
}

static pawl_status read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                              struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_steps(inner, arena, query, out_rows, out_count, error);
}

static pawl_status read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                               struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_events(inner, arena, query, out_rows, out_count, error);
}

static pawl_status read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                             struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_logs(inner, arena, query, out_rows, out_count, error);
}

static pawl_status read_event(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                              struct pw_text id, struct pw_event_row *out_event, bool *out_found,
                              struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_event(inner, arena, instance, run, id, out_event, out_found, error);
}

static pawl_status read_instances(struct pw_store *store, struct pw_arena *arena,
                                  const struct pw_instances_wanted *wanted, struct pw_instance **out_rows,
                                  struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_instances(inner, arena, wanted, out_rows, error);
}

static pawl_status read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                   int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                   struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_new_events(inner, arena, instance, run, after_seq, out_rows, out_count, error);
}

static pawl_status read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                      struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->read_waiting_steps(inner, arena, instance, run, out_rows, out_count, error);
}

static pawl_status next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                            const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                            struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->next_due(inner, workflows, count, share, after_ms, out_at_ms, error);
}

static pawl_status count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                               struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->count_tasks(inner, now_ms, out_counts, error);
}

static pawl_status count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count, int64_t max,
                                  struct pw_status_counts *out_counts, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->count_statuses(inner, workflows, count, max, out_counts, error);
}

static pawl_status list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                              struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->list_hooks(inner, arena, query, out_rows, out_count, error);
}

static pawl_status next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                             struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->next_hook(inner, hooks, count, out_at_ms, error);
}

static pawl_status list_runners(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                                size_t *out_count, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    FAIL_READ(error);
    return inner->ops->list_runners(inner, arena, out_rows, out_count, error);
}

static pawl_status announce(struct pw_store *store, int64_t owner, struct pawl_error *error)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    struct pawl_error unheard;
    if (fault_strikes(FAULT_ANNOUNCE))
        return say_failed(error != NULL ? error : &unheard);
    return inner->ops->announce(inner, owner, error);
}

static void close_store(struct pw_store *store)
{
    struct pw_store *inner = ((struct fault_store *)store)->forward.inner;
    inner->ops->close(inner);
    free(store);
}

struct pw_store *fault_store_wrap(struct pw_store *inner, void *user)
{
    struct fault_store *own = malloc(sizeof *own);
    if (own == NULL)
        return NULL;
    own->options = *(const struct fault_store_options *)user;
    pw_forward_init(&own->forward, inner);
    struct pw_store_ops *ops = &own->forward.ops;
    ops->close = close_store;
    ops->apply = apply;
    ops->read_instance = read_instance;
    ops->read_instance_by_key = read_instance_by_key;
    ops->read_current = read_current;
    ops->list_instances = list_instances;
    ops->read_steps = read_steps;
    ops->read_events = read_events;
    ops->read_logs = read_logs;
    ops->read_event = read_event;
    ops->read_instances = read_instances;
    ops->read_new_events = read_new_events;
    ops->read_waiting_steps = read_waiting_steps;
    ops->next_due = next_due;
    ops->count_tasks = count_tasks;
    ops->count_statuses = count_statuses;
    ops->list_hooks = list_hooks;
    ops->next_hook = next_hook;
    ops->list_runners = list_runners;
    ops->announce = announce;
    return &own->forward.store;
}
