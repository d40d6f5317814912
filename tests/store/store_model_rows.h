/* store_model_rows.h - the inside of the model: its rows, changed in store_model.c, _links.c and _hooks.c, and
 * read in store_model_reads.c. */
#ifndef TESTS_STORE_MODEL_ROWS_H
#define TESTS_STORE_MODEL_ROWS_H

#include "store_model.h"

enum { INSTANCES_MAX = 32, ROWS_MAX = 420, STEPS_MAX = 2000, USERS_MAX = 4 };

struct model_step {
    int64_t instance, run;
    struct pw_step_row row;
};
struct model_event {
    int64_t instance, run;
    struct pw_event_row row;
};
struct model_log {
    int64_t instance, run;
    struct pw_log_row row;
};
struct model_earlier {
    int64_t instance;
    struct pw_earlier_run row;
};
struct model_user {
    char id;
    bool has_number;
    int64_t number;
};

struct model_rows {
    struct pw_instance instances[INSTANCES_MAX];
    struct model_step steps[STEPS_MAX];
    struct model_event events[ROWS_MAX];
    struct model_log logs[ROWS_MAX];
    struct model_earlier earliers[ROWS_MAX];
    struct pw_hook_row hooks[ROWS_MAX];
    struct model_user users[USERS_MAX];
    size_t instance_count, step_count, event_count, log_count, earlier_count, hook_count, user_count;
};

struct model {
    struct pw_store store;
    struct pw_store_ops ops;
    struct pawl_clock clock;
    struct pw_arena arena;   /* of all texts */
    int64_t now_ms;          /* of the commit */
    struct pw_unit *unit;    /* which is being applied */
    int64_t keys, hook_keys; /* handed out; not taken back */
    struct model_rows rows, before;
};

/* A place for one more row of a kind. */
#define ADD_ROW(model, kind)                                                                                           \
    (assert_true((model)->rows.kind##_count < sizeof(model)->rows.kind##s / sizeof(model)->rows.kind##s[0]),           \
     &(model)->rows.kind##s[(model)->rows.kind##_count++])

struct pw_text store_model_keep(struct model *model, struct pw_text text);
/* NULL: there is none, or it has ended. */
struct pw_instance *store_model_instance(struct model *model, int64_t key);
struct pw_instance *store_model_task(struct model *model, int64_t key);
/* The time of what is recorded now, where the newest so far is this one. */
int64_t store_model_time(const struct model *model, int64_t newest_ms);
/* The task is nobody's. */
void store_model_let_go(struct model *model, struct pw_task *task, enum pw_task_status status);
/* Newest: the newest time that is known of it. */
void store_model_end_run(struct model *model, struct pw_instance *instance, const struct pw_op_finish *op,
                         int64_t newest_ms);
/* Adds an effect to the unit.  The second: the run is due. */
struct pw_effect *store_model_tell(struct model *model, enum pw_effect_kind kind, int64_t instance, int64_t run);
void store_model_tell_due(struct model *model, enum pw_effect_kind kind, const struct pw_instance *instance,
                          enum pw_hook_reason reason, int64_t at_ms);

/* Takes the task for a runner, and says what it was. */
struct pw_claim store_model_take(struct model *model, struct pw_instance *instance, int64_t owner, int64_t lease_ms);

enum pw_refusal store_model_log(struct model *model, const struct pw_op_log *op);
enum pw_refusal store_model_finish(struct model *model, struct pw_op_finish *op);

/* store_model_links.c: what a run does to others, and they to it.  The task's event_seq is raised by one. */
enum pw_refusal store_model_add_event(struct model *model, struct pw_op_event *op);
enum pw_refusal store_model_demand(struct model *model, const struct pw_op_demand *op);
int64_t store_model_reach(struct model *model, int64_t parent, int64_t run, enum pw_demand demand);
/* What the end of this run tells. */
void store_model_answer(struct model *model, struct pw_op_event *op, int64_t run);
enum pw_refusal store_model_end(struct model *model, struct pw_op_end *op);
enum pw_refusal store_model_control(struct model *model, struct pw_op_control *op);
/* Steps of run `op->run` into the next. */
void store_model_keep_steps(struct model *model, const struct pw_op_restart *op);

/* store_model_hooks.c */
void store_model_tell_hooks(struct model *model);
enum pw_refusal store_model_claim_hooks(struct model *model, struct pw_op_hook_claim *op, struct pw_arena *arena);
enum pw_refusal store_model_settle(struct model *model, struct pw_op_hook_settle *op);
enum pw_refusal store_model_resend(struct model *model, struct pw_op_hook_resend *op);

/* Since when a task may be claimed; INT64_MAX: it may not. */
int64_t store_model_due_since(const struct pw_instance *instance);
/* The same for whoever asks for a share of these workflows; share NULL: all of it. */
int64_t store_model_due_for(const struct pw_instance *instance, const struct pw_text *workflows, size_t count,
                            const struct pw_share *share);
bool store_model_is_named(const struct pw_text *names, size_t count, struct pw_text name);

pw_read_fn store_model_read;

#endif
