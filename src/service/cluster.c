/* cluster.c - the runners of a store, on all machines, and which of them owns which shard. */
#include <assert.h>

#include "base/error.h"
#include "engine/shards.h"
#include "service/check.h"
#include "service/rows.h"
#include "value/value.h"

static_assert((int)PAWL_SHARD_COUNT == (int)PW_SHARD_COUNT, "the same number, for hosts and for the store");

/* The runners, and the shard owners of each workflow that was asked about.  The owners are kept because most runners
 * carry the same workflows. */
struct cluster {
    struct pw_arena arena;
    struct pw_runner_row *rows;
    size_t count;
    struct pw_table owners; /* by workflow: size_t[PW_SHARD_COUNT] */
};

static pawl_status read_cluster(pawl_engine *engine, struct cluster *cluster, struct pawl_error *error)
{
    const struct pw_read asked = { .kind = PW_READ_RUNNERS };
    struct pw_found found = { .count = 0 };
    *cluster = (struct cluster){ .owners.arena = &cluster->arena };
    pawl_status status = pw_read(engine->store, &asked, &cluster->arena, &found, error);
    cluster->rows = found.runners;
    cluster->count = found.count;
    return status;
}

/* The shard owners of a workflow.  NULL when memory runs out.  The name must live as long as the cluster. */
static const size_t *owners_of(struct cluster *cluster, struct pw_text workflow)
{
    size_t *owners = pw_table_find(&cluster->owners, workflow);
    if (owners != NULL)
        return owners;
    owners = pw_arena_take(&cluster->arena, PW_SHARD_COUNT * sizeof *owners);
    if (owners == NULL || !pw_table_add(&cluster->owners, workflow, owners))
        return NULL;
    pw_shard_owners(cluster->rows, cluster->count, workflow, owners);
    return owners;
}

/* Splits the names, one text with spaces between them, in place. */
static pawl_status show_workflows(pawl_scope *scope, struct cluster *cluster, size_t runner,
                                  struct pawl_runner_info *info)
{
    const char *names;
    size_t most = 1;
    if (!pw_rows_string(scope, cluster->rows[runner].workflows, &names))
        return PAWL_NOMEM;
    for (const char *at = names; at != NULL && *at != '\0'; at++)
        most += *at == ' ';
    struct pawl_served_workflow *workflows = pw_scope_take(scope, most * sizeof *workflows);
    if (workflows == NULL)
        return PAWL_NOMEM;
    info->workflows = workflows;
    for (char *at = (char *)names; at != NULL && *at != '\0';) {
        size_t size = strcspn(at, " ");
        char *past = at + size + (at[size] != '\0');
        at[size] = '\0';
        const size_t *owners = owners_of(cluster, pw_text_of(at));
        if (owners == NULL)
            return PAWL_NOMEM;
        struct pawl_served_workflow *workflow = &workflows[info->workflow_count++];
        *workflow = (struct pawl_served_workflow){ .name = at };
        for (size_t shard = 0; shard < PW_SHARD_COUNT; shard++)
            workflow->shards += owners[shard] == runner;
        at = past;
    }
    return PAWL_OK;
}

static pawl_status show_runner(pawl_scope *scope, struct cluster *cluster, size_t runner, struct pawl_runner_info *info)
{
    const struct pw_runner_row *row = &cluster->rows[runner];
    *info = (struct pawl_runner_info){ .id = pw_rows_runner_id(scope, row->owner),
                                       .is_sharing = row->is_sharing,
                                       .started_at_ms = row->started_at_ms,
                                       .seen_at_ms = row->seen_at_ms };
    if (info->id == NULL || !pw_rows_string(scope, row->name, &info->name))
        return PAWL_NOMEM;
    return show_workflows(scope, cluster, runner, info);
}

pawl_status pawl_list_runners(pawl_engine *engine, pawl_scope *scope, const struct pawl_runner_info **out_runners,
                              size_t *out_count, struct pawl_error *error)
{
    struct cluster cluster;
    if (engine == NULL || scope == NULL || out_runners == NULL || out_count == NULL)
        return pw_error(error, PAWL_INVALID, "pawl_list_runners takes an engine, a scope, and places for its answer");
    pawl_status status = read_cluster(engine, &cluster, error);
    struct pawl_runner_info *runners =
        pw_scope_take(scope, cluster.count * sizeof *runners + 1); /* not NULL for none */
    if (status == PAWL_OK && runners == NULL)
        status = PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < cluster.count; i++)
        status = show_runner(scope, &cluster, i, &runners[i]);
    if (status == PAWL_OK) {
        *out_runners = runners;
        *out_count = cluster.count;
    }
    pw_arena_clear(&cluster.arena);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}

static pawl_status name_owners(pawl_scope *scope, struct cluster *cluster, struct pw_text workflow,
                               const char *const **out_runner_ids)
{
    size_t count = cluster->count;
    const size_t *owners = owners_of(cluster, workflow);
    const char **by_runner = pw_scope_take(scope, (count + 1) * sizeof *by_runner);
    const char **by_shard = pw_scope_take(scope, PW_SHARD_COUNT * sizeof *by_shard);
    if (owners == NULL || by_runner == NULL || by_shard == NULL)
        return PAWL_NOMEM;
    by_runner[count] = NULL;
    for (size_t i = 0; i < count; i++) {
        by_runner[i] = pw_rows_runner_id(scope, cluster->rows[i].owner);
        if (by_runner[i] == NULL)
            return PAWL_NOMEM;
    }
    for (size_t shard = 0; shard < PW_SHARD_COUNT; shard++)
        by_shard[shard] = by_runner[owners[shard]];
    *out_runner_ids = by_shard;
    return PAWL_OK;
}

pawl_status pawl_list_shards(pawl_engine *engine, pawl_scope *scope, const char *workflow,
                             const char *const **out_runner_ids, struct pawl_error *error)
{
    struct pw_definition *definition;
    struct cluster cluster;
    PAWL_TRY(pw_check_workflow(engine, workflow, &definition, error));
    PAWL_TRY(pw_check_answer(scope, out_runner_ids, "out_runner_ids", error));
    pawl_status status = read_cluster(engine, &cluster, error);
    if (status == PAWL_OK)
        status = name_owners(scope, &cluster, definition->name, out_runner_ids);
    pw_arena_clear(&cluster.arena);
    return status == PAWL_NOMEM ? pw_error_plain(error, status) : status;
}
