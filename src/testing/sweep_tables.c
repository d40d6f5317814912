/* sweep_tables.c - the author's own tables in a world's database, filled before a run and read after it. */
#include "base/error.h"
#include "testing/world.h"

pawl_status pw_world_apply(pawl_world *world, const struct pw_op *wanted, struct pawl_error *error)
{
    struct pw_unit unit;
    pw_unit_init(&unit);
    pawl_status status = pw_unit_copy(&unit, wanted) ? pw_engine_run(world->engine, &unit) : PAWL_NOMEM;
    if (status != PAWL_OK && unit.error.status == status)
        pw_error(error, status, "%s", unit.error.text);
    else if (status != PAWL_OK)
        pw_error_plain(error, status);
    pw_unit_clear(&unit);
    return status;
}

pawl_status pawl_world_sql(pawl_world *world, const char *sql, struct pawl_error *error)
{
    if (world == NULL || sql == NULL)
        return pw_error(error, PAWL_INVALID, "a world and SQL are needed");
    return pw_world_apply(world, &(struct pw_op){ .kind = PW_OP_SQL, .as.sql.sql = pw_text_of(sql) }, error);
}

pawl_status pawl_world_mutate(pawl_world *world, pawl_mutation_fn *mutate, const void *data, size_t size,
                              struct pawl_error *error)
{
    if (world == NULL || mutate == NULL)
        return pw_error(error, PAWL_INVALID, "a world and a function are needed");
    return pw_world_apply(world, &(struct pw_op){ .kind = PW_OP_MUTATE, .as.mutate = { mutate, data, size } }, error);
}
