/* read.c - what is about one instance is read at its home; what is about all, from all who answer (V6). */
#include "base/error.h"
#include "store/several/several.h"

/* ---- One instance -------------------------------------------------------------------------------------------- */

static struct pw_store *member_of(struct pw_several *several, size_t home)
{
    return several->members[home].store;
}

/* The row as everybody else knows it. */
static pawl_status answer(struct pw_several *several, size_t home, pawl_status status, struct pw_instance *instance,
                          const struct pawl_error *error)
{
    if (status == PAWL_OK) {
        instance->key = pw_outer_key(several, home, instance->key);
        pw_outer_link(several, home, &instance->link);
    }
    return pw_member_note(several, home, status, error);
}

pawl_status pw_several_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                     struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    size_t home = pw_home_of(workflow, id, several->count);
    struct pw_store *member = member_of(several, home);
    pawl_status status = pw_member_check(several, home, error);
    if (status != PAWL_OK)
        return status;
    status = member->ops->read_instance(member, arena, workflow, id, out_instance, error);
    return answer(several, home, status, out_instance, error);
}

pawl_status pw_several_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                            struct pw_instance *out_instance, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    size_t home = pw_key_home(several, key);
    struct pw_store *member = member_of(several, home);
    pawl_status status = pw_member_check(several, home, error);
    if (status != PAWL_OK)
        return status;
    status = member->ops->read_instance_by_key(member, arena, pw_inner_key(several, key), out_instance, error);
    return answer(several, home, status, out_instance, error);
}

pawl_status pw_several_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                    struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                    bool *out_has_step, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    size_t home = pw_home_of(workflow, id, several->count);
    struct pw_store *member = member_of(several, home);
    pawl_status status = pw_member_check(several, home, error);
    if (status != PAWL_OK)
        return status;
    status = member->ops->read_current(member, arena, workflow, id, out_instance, out_step, out_has_step, error);
    return answer(several, home, status, out_instance, error);
}

/* ---- Its history --------------------------------------------------------------------------------------------- */

/* Who is asked about an instance, and how. */
struct asking {
    struct pw_several *several;
    size_t home;
    struct pw_store *member;
    struct pw_history_query query;
};

static pawl_status asking_begin(struct asking *asking, struct pw_store *store, const struct pw_history_query *query,
                                struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    *asking = (struct asking){ several, pw_key_home(several, query->instance), NULL, *query };
    asking->member = member_of(several, asking->home);
    asking->query.instance = pw_inner_key(several, query->instance);
    return pw_member_check(several, asking->home, error);
}

static pawl_status asking_end(const struct asking *asking, pawl_status status, const struct pawl_error *error)
{
    return pw_member_note(asking->several, asking->home, status, error);
}

pawl_status pw_several_read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                  struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct asking asking;
    pawl_status status = asking_begin(&asking, store, query, error);
    if (status != PAWL_OK)
        return status;
    status = asking.member->ops->read_steps(asking.member, arena, &asking.query, out_rows, out_count, error);
    return asking_end(&asking, status, error);
}

pawl_status pw_several_read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                   struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct asking asking;
    pawl_status status = asking_begin(&asking, store, query, error);
    if (status != PAWL_OK)
        return status;
    status = asking.member->ops->read_events(asking.member, arena, &asking.query, out_rows, out_count, error);
    return asking_end(&asking, status, error);
}

pawl_status pw_several_read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                 struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct asking asking;
    pawl_status status = asking_begin(&asking, store, query, error);
    if (status != PAWL_OK)
        return status;
    status = asking.member->ops->read_logs(asking.member, arena, &asking.query, out_rows, out_count, error);
    return asking_end(&asking, status, error);
}

pawl_status pw_several_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                       int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                       struct pawl_error *error)
{
    struct asking asking;
    pawl_status status = asking_begin(&asking, store, &(struct pw_history_query){ .instance = instance }, error);
    if (status != PAWL_OK)
        return status;
    status = asking.member->ops->read_new_events(asking.member, arena, asking.query.instance, run, after_seq, out_rows,
                                                 out_count, error);
    return asking_end(&asking, status, error);
}

pawl_status pw_several_read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                          struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error)
{
    struct asking asking;
    pawl_status status = asking_begin(&asking, store, &(struct pw_history_query){ .instance = instance }, error);
    if (status != PAWL_OK)
        return status;
    status = asking.member->ops->read_waiting_steps(asking.member, arena, asking.query.instance, run, out_rows,
                                                    out_count, error);
    return asking_end(&asking, status, error);
}

pawl_status pw_several_read_run(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                bool with_events, struct pw_run_rows *out_rows, struct pawl_error *error)
{
    struct asking asking;
    pawl_status status = asking_begin(&asking, store, &(struct pw_history_query){ .instance = instance }, error);
    if (status != PAWL_OK)
        return status;
    status =
        asking.member->ops->read_run(asking.member, arena, asking.query.instance, run, with_events, out_rows, error);
    if (status == PAWL_OK)
        pw_outer_link(asking.several, asking.home, &out_rows->link);
    return asking_end(&asking, status, error);
}

/* ---- All that answer ----------------------------------------------------------------------------------------- */

/* Asks one member, and adds what it says to the answer. */
typedef pawl_status ask_fn(struct pw_store *member, void *user, struct pawl_error *error);

/* PAWL_OK when anybody answered. */
static pawl_status ask_all(struct pw_several *several, ask_fn *ask, void *user, struct pawl_error *error)
{
    struct pawl_error why = { PAWL_OK, "" };
    size_t answered = 0;
    for (size_t home = 0; home < several->count; home++) {
        pawl_status status = pw_member_check(several, home, &why);
        if (status == PAWL_OK)
            status = pw_member_note(several, home, ask(member_of(several, home), user, &why), &why);
        answered += status == PAWL_OK;
        why.status = status == PAWL_OK ? why.status : status;
    }
    return answered > 0 ? PAWL_OK : pw_error(error, why.status, "%s", why.text);
}

struct next {
    const struct pw_text *names;
    size_t count;
    const struct pw_share *share;
    int64_t after_ms;
    int64_t at_ms;
};

static void note_next(struct next *next, pawl_status status, int64_t at_ms)
{
    if (status == PAWL_OK && at_ms < next->at_ms)
        next->at_ms = at_ms;
}

static pawl_status ask_next_due(struct pw_store *member, void *user, struct pawl_error *error)
{
    struct next *next = user;
    int64_t at_ms = INT64_MAX;
    pawl_status status =
        member->ops->next_due(member, next->names, next->count, next->share, next->after_ms, &at_ms, error);
    note_next(next, status, at_ms);
    return status;
}

static pawl_status ask_next_hook(struct pw_store *member, void *user, struct pawl_error *error)
{
    struct next *next = user;
    int64_t at_ms = INT64_MAX;
    pawl_status status = member->ops->next_hook(member, next->names, next->count, &at_ms, error);
    note_next(next, status, at_ms);
    return status;
}

static pawl_status ask_next(struct pw_store *store, ask_fn *ask, struct next next, int64_t *out_at_ms,
                            struct pawl_error *error)
{
    pawl_status status = ask_all((struct pw_several *)store, ask, &next, error);
    if (status == PAWL_OK)
        *out_at_ms = next.at_ms;
    return status;
}

pawl_status pw_several_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                                struct pawl_error *error)
{
    return ask_next(store, ask_next_due, (struct next){ workflows, count, share, after_ms, INT64_MAX }, out_at_ms,
                    error);
}

pawl_status pw_several_next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                                 struct pawl_error *error)
{
    return ask_next(store, ask_next_hook, (struct next){ hooks, count, NULL, PW_EVER, INT64_MAX }, out_at_ms, error);
}

struct counting {
    int64_t now_ms;
    struct pw_task_counts sum;
};

static pawl_status ask_counts(struct pw_store *member, void *user, struct pawl_error *error)
{
    struct counting *counting = user;
    struct pw_task_counts counts, *sum = &counting->sum;
    pawl_status status = member->ops->count_tasks(member, counting->now_ms, &counts, error);
    if (status != PAWL_OK)
        return status;
    sum->homes_silent--;
    sum->active += counts.active;
    sum->waiting += counts.waiting;
    sum->paused += counts.paused;
    sum->due += counts.due;
    sum->hooks_pending += counts.hooks_pending;
    sum->hooks_failed += counts.hooks_failed;
    if (sum->oldest_due_at_ms == 0 || (counts.oldest_due_at_ms != 0 && counts.oldest_due_at_ms < sum->oldest_due_at_ms))
        sum->oldest_due_at_ms = counts.oldest_due_at_ms;
    return PAWL_OK;
}

pawl_status pw_several_count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                                   struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    struct counting counting = { .now_ms = now_ms, .sum = { .homes_silent = (int64_t)several->count } };
    pawl_status status = ask_all(several, ask_counts, &counting, error);
    if (status == PAWL_OK)
        *out_counts = counting.sum;
    return status;
}

/* ---- Runners ------------------------------------------------------------------------------------------------- */

static pawl_status ask_describe(struct pw_store *member, void *user, struct pawl_error *error)
{
    return member->ops->describe(member, user, error);
}

pawl_status pw_several_describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error)
{
    return ask_all((struct pw_several *)store, ask_describe, (void *)runner, error);
}

/* All runners are in every member, so the first that answers will do.  One that could not be told of a runner then hears of
 * it when it is that first: a runner that does not find itself says it again. */
pawl_status pw_several_list_runners(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                                    size_t *out_count, struct pawl_error *error)
{
    struct pw_several *several = (struct pw_several *)store;
    pawl_status status = PAWL_OK;
    for (size_t home = 0; home < several->count; home++) {
        struct pw_store *member = member_of(several, home);
        status = pw_member_check(several, home, error);
        if (status != PAWL_OK)
            continue;
        status = member->ops->list_runners(member, arena, out_rows, out_count, error);
        if (pw_member_note(several, home, status, error) == PAWL_OK)
            return PAWL_OK;
    }
    return status;
}
