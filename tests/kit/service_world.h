/* service_world.h - an engine with simulated time and no runner, for tests of the services.  The test plays the
 * runner: it claims tasks, records steps and parks runs with its own units of work, and can pretend to be the local
 * runner. */
#ifndef TESTS_SERVICE_WORLD_H
#define TESTS_SERVICE_WORLD_H

#include "engine/engine.h"
#include "pawl/service.h"
#include "test.h"

#define WORLD_START_MS INT64_C(1700000000000)
enum { WORLD_CLAIMS_MAX = 8, WORLD_OWNER = 77, WORLD_LEASE_MS = 5000 };

struct world {
    struct store_place place;
    int64_t now_ms;    /* monotonic */
    int64_t jumped_ms; /* how far the stored wall time is ahead of it */
    pawl_engine *engine;
    pawl_scope *scope;
    struct pawl_error error;

    /* The local runner, once world_start_local() was called. */
    struct pw_local local;
    struct pw_peer peer;
    int room; /* how many more runs it accepts */
    int reserved, cancelled, woken, revoked, asked_to_pause, told_of_events;
    enum pw_demand demanded;      /* by the newest interrupt */
    bool revoked_before_delivery; /* for the newest delivery */
    struct pw_claim delivered[WORLD_CLAIMS_MAX];
    char delivered_id[WORLD_CLAIMS_MAX][101];
    size_t delivered_count;

    /* Simulates another process that acts between a read and the commit that depends on it. */
    struct pw_store_ops ops;
    const struct pw_store_ops *true_ops;
    void (*meddle)(struct world *world, const struct pw_instance *instance);
    int meddle_count; /* how many more times */
};

/* Runs on every store, with the workflows "order" and "other" registered. */
extern const struct test_setting world_setting;

/* Checks that the status is the expected one and that the error contains all the given words, which end with NULL.
 * Clears the error. */
void assert_refused(struct world *world, pawl_status status, pawl_status expected, ...);

struct pawl_instance world_create(struct world *world, const char *id);
struct pawl_instance world_get(struct world *world, const char *id);
struct pw_instance world_row(struct world *world, const char *id); /* its texts are already freed */
void world_send(struct world *world, const char *id, const char *type, const char *event_id);
size_t world_list_count(struct world *world);
/* Which page of a list, and else the defaults. */
struct pawl_list_options world_page(int32_t page_size, enum pawl_order order, const char *cursor);
struct pawl_history world_history(struct world *world, const char *id, int64_t run);

/* Claims the only due task of "order". */
struct pw_claim world_claim(struct world *world);
/* True if a unit under this fence is still applied. */
bool world_fence_holds(struct world *world, struct pw_fence fence);
/* Commits a unit, which must succeed, and clears it. */
void world_commit(struct world *world, struct pw_unit *unit);

/* Records a step of the current run and parks the run as waiting until wake_at_ms. */
void world_wait(struct world *world, const char *id, int64_t seq, enum pawl_step_kind kind, const char *event_type,
                int64_t wake_at_ms);
void world_add_step(struct world *world, const char *id, int64_t seq, enum pawl_step_kind kind,
                    enum pawl_step_status status);
void world_add_log(struct world *world, const char *id, enum pawl_log_level level, const char *category,
                   const char *message);
void world_finish(struct world *world, const char *id, enum pw_outcome outcome);
/* Records the given step of the current run.  A time of 0 means now. */
void world_record(struct world *world, const char *id, struct pw_step_row step);
/* Parks the run, so that nobody owns it. */
void world_park(struct world *world, const char *id, enum pw_task_status status, enum pw_task_kind kind,
                int64_t due_at_ms);

/* Creates an instance as a step of "order" `parent` would. */
void world_make(struct world *world, const char *parent, enum pw_relation relation, const char *workflow,
                const char *id, const char *params);
struct pw_instance world_row_of(struct world *world, const char *workflow, const char *id); /* like world_row() */

/* What a call that does not wait was answered with.  The first takes the status alone: `user` is a pawl_status. */
struct world_answer {
    int count;
    pawl_status status;
};
void world_take_status(void *user, pawl_status status);
void world_take_answer(void *user, pawl_status status);

void world_start_local(struct world *world, int room);
void world_start_meddling(struct world *world, int count,
                          void (*meddle)(struct world *world, const struct pw_instance *instance));

#endif
