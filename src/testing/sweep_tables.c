/* sweep_tables.c - tables of one's own in a world's database: made ready before a run, looked at after it. */
#include "base/error.h"
#include "testing/world.h"

/* Commits the unit, and clears it. */
static pawl_status run_unit(pawl_world *world, struct pw_unit *unit, struct pawl_error *error)
{
    pawl_status status = unit->first != NULL ? pw_commit_run(world->engine->commit, unit) : PAWL_NOMEM;
    if (status != PAWL_OK && unit->error.status == status)
        pw_error(error, status, "%s", unit->error.text);
    else if (status != PAWL_OK)
        pw_error_plain(error, status);
    pw_unit_clear(unit);
    return status;
}

pawl_status pawl_world_sql(pawl_world *world, const char *sql, struct pawl_error *error)
{
    struct pw_unit unit;
    if (world == NULL || sql == NULL)
        return pw_error(error, PAWL_INVALID, "a world and SQL are needed");
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_SQL);
    if (op != NULL)
        op->as.sql.sql = pw_text_of(sql);
    return run_unit(world, &unit, error);
}

pawl_status pawl_world_mutate(pawl_world *world, pawl_mutation_fn *mutate, const void *data, size_t size,
                              struct pawl_error *error)
{
    struct pw_unit unit;
    if (world == NULL || mutate == NULL)
        return pw_error(error, PAWL_INVALID, "a world and a function are needed");
    pw_unit_init(&unit);
    struct pw_op *op = pw_unit_add(&unit, PW_OP_MUTATE);
    if (op != NULL)
        op->as.mutate = (struct pw_op_mutate){ mutate, data, size };
    return run_unit(world, &unit, error);
}
