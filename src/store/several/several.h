/* several.h - one store made of several databases, its members.
 *
 * An instance lives in one of them, its home, for ever: pw_home_of() says in which.  So their order and number are fixed,
 * and each remembers its seat.
 *
 *  V1. A member's key k is k * count + number outwards; whoever holds a key knows its home.
 *  V2. A unit about an instance is its home's, wholly: S1-S6 hold for it as they do there.
 *  V3. A unit about no instance, or about several of them that are created, is divided: each member applies its part in a
 *      transaction of its own.  Where the store is asked to find something (a claim, a reap), whoever answers is enough;
 *      a part that belongs to one member fails with it, and then says nothing about the others' parts.
 *  V4. A lane is about one member.  Divided units have a lane of their own, so that no member waits for another's trouble.
 *  V5. A member that does not answer is in trouble until it does.  Meanwhile nobody waits for it: what the others can
 *      answer without it they do, and what is about its own instances is answered at once, with its trouble.
 *  V6. A list is complete or an error.  Figures are of the members that answer.
 *  V7. Time is the first member's, for all.
 *  V8. An instance with a link lives with its parent.  One that is looked for by its name must have a name that says so, or
 *      is not made; a job may have any: whoever ends it by its name does so in a unit about its parent, which is that
 *      home's.
 *  V9. How many tasks of a workflow may be leased at once is looked after by each member for itself: it may be that many
 *      in each of them. */
#ifndef PW_STORE_SEVERAL_SEVERAL_H
#define PW_STORE_SEVERAL_SEVERAL_H

#include <pthread.h>

#include "store/store.h"

struct pw_member {
    struct pw_store *store;
    size_t lane_first, lane_count;
    atomic_bool in_trouble;
    /* Guarded by the store's lock: what the trouble is; and who is in apply(), which no more may be than there are lanes,
     * first come, first served. */
    struct pawl_error trouble;
    size_t applying;
    uint64_t next_ticket, admitted;
};

struct pw_several {
    struct pw_store store;
    struct pw_store_ops ops; /* without what the members do not have */
    size_t count;
    atomic_size_t rounds; /* of divided units: each begins with another member */
    pthread_mutex_t lock;
    pthread_cond_t left; /* somebody has left apply() */

    /* The thread that looks after members in trouble, from the first trouble on. */
    pthread_cond_t wake;
    pthread_t prober;
    bool has_prober, closing; /* guarded by lock */

    struct pw_member members[PW_HOMES_MAX];
};

/* ---- Keys ---------------------------------------------------------------------------------------------------- */

static inline int64_t pw_outer_key(const struct pw_several *several, size_t home, int64_t key)
{
    return key * (int64_t)several->count + (int64_t)home;
}
static inline int64_t pw_inner_key(const struct pw_several *several, int64_t key)
{
    return key / (int64_t)several->count;
}
static inline size_t pw_key_home(const struct pw_several *several, int64_t key)
{
    return (size_t)((uint64_t)key % several->count);
}

/* A link as everybody else knows it. */
static inline void pw_outer_link(const struct pw_several *several, size_t home, struct pw_link *link)
{
    if (link->parent != 0)
        link->parent = pw_outer_key(several, home, link->parent);
}

/* Beside the members' numbers: of what is divided; of a unit that is about instances of several and cannot be. */
#define PW_HOME_ALL SIZE_MAX
#define PW_HOME_MIXED (SIZE_MAX - 1)

size_t pw_op_home(const struct pw_several *several, const struct pw_op *op);
size_t pw_unit_home(const struct pw_several *several, const struct pw_unit *unit);
/* The op's keys as its home knows them, and what it answers as everybody else does. */
void pw_op_enter_home(const struct pw_several *several, struct pw_op *op);
void pw_op_leave_home(const struct pw_several *several, size_t home, struct pw_op *op);

/* ---- Applying ------------------------------------------------------------------------------------------------ */

pawl_status pw_several_apply(struct pw_store *store, struct pw_unit **units, size_t count, int64_t now_ms,
                             struct pawl_error *error);
/* To one member, whose keys they have.  _try: also while it is in trouble. */
pawl_status pw_member_try(struct pw_several *several, size_t home, struct pw_unit **units, size_t count, int64_t now_ms,
                          struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_member_apply(struct pw_several *several, size_t home, struct pw_unit **units, size_t count,
                            int64_t now_ms, struct pawl_error *error) PAWL_MUST_CHECK;
/* One unit, to all whom it concerns (V3). */
pawl_status pw_several_divide(struct pw_several *several, struct pw_unit *unit, int64_t now_ms,
                              struct pawl_error *error) PAWL_MUST_CHECK;

/* ---- Trouble ------------------------------------------------------------------------------------------------- */

/* What the member's answer says about it.  Returns the status. */
pawl_status pw_member_note(struct pw_several *several, size_t home, pawl_status status, const struct pawl_error *error);
/* Its trouble, if it is in any. */
pawl_status pw_member_check(struct pw_several *several, size_t home, struct pawl_error *error) PAWL_MUST_CHECK;
static inline bool pw_member_is_well(const struct pw_several *several, size_t home)
{
    return !atomic_load(&several->members[home].in_trouble);
}
/* Ends the thread. */
void pw_several_stop_probing(struct pw_several *several);

/* ---- The store's functions, see store.h -------------------------------------------------------------------------- */

pawl_status pw_several_read_instance(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                     struct pw_text id, struct pw_instance *out_instance, struct pawl_error *error);
pawl_status pw_several_read_instance_by_key(struct pw_store *store, struct pw_arena *arena, int64_t key,
                                            struct pw_instance *out_instance, struct pawl_error *error);
pawl_status pw_several_read_current(struct pw_store *store, struct pw_arena *arena, struct pw_text workflow,
                                    struct pw_text id, struct pw_instance *out_instance, struct pw_step_row *out_step,
                                    bool *out_has_step, struct pawl_error *error);
pawl_status pw_several_read_steps(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                  struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_several_read_events(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                   struct pw_event_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_several_read_logs(struct pw_store *store, struct pw_arena *arena, const struct pw_history_query *query,
                                 struct pw_log_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_several_read_new_events(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                       int64_t after_seq, struct pw_event_row **out_rows, size_t *out_count,
                                       struct pawl_error *error);
pawl_status pw_several_read_waiting_steps(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                          struct pw_step_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_several_read_run(struct pw_store *store, struct pw_arena *arena, int64_t instance, int64_t run,
                                bool with_events, struct pw_run_rows *out_rows, struct pawl_error *error);
pawl_status pw_several_list_instances(struct pw_store *store, struct pw_arena *arena,
                                      const struct pw_instance_query *query, struct pw_instance **out_rows,
                                      size_t *out_count, struct pawl_error *error);
pawl_status pw_several_list_hooks(struct pw_store *store, struct pw_arena *arena, const struct pw_hook_query *query,
                                  struct pw_hook_row **out_rows, size_t *out_count, struct pawl_error *error);
pawl_status pw_several_next_due(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                const struct pw_share *share, int64_t after_ms, int64_t *out_at_ms,
                                struct pawl_error *error);
pawl_status pw_several_next_hook(struct pw_store *store, const struct pw_text *hooks, size_t count, int64_t *out_at_ms,
                                 struct pawl_error *error);
pawl_status pw_several_describe(struct pw_store *store, const struct pw_runner_row *runner, struct pawl_error *error);
pawl_status pw_several_list_runners(struct pw_store *store, struct pw_arena *arena, struct pw_runner_row **out_rows,
                                    size_t *out_count, struct pawl_error *error);
pawl_status pw_several_count_tasks(struct pw_store *store, int64_t now_ms, struct pw_task_counts *out_counts,
                                   struct pawl_error *error);
pawl_status pw_several_count_statuses(struct pw_store *store, const struct pw_text *workflows, size_t count,
                                      int64_t max, struct pw_status_counts *out_counts, struct pawl_error *error);

#endif
