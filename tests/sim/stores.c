/* stores.c - which store a world is on: SQLite for one seed in eight, the store of tests/memory for the others.  A seed does the
 * same on both, because both answer alike. */
#include "fail.h"
#include "memory/store.h"
#include "store/sqlite/sqlite.h"
#include "world.h"

enum { SQLITE_ONE_IN = 8 };

void sim_stores_open(struct sim_world *world, const struct pawl_options *options)
{
    struct pawl_error error = { PAWL_OK, "" };
    if (pw_store_open(options->store_url, options->clock, &world->sqlite, &error) != PAWL_OK)
        sim_give_up("no store: %s", error.text);
    world->db = ((struct pw_sqlite *)world->sqlite)->writer.db;
    sim_sqlite_make(world->db);
    world->memory = memory_store_new(options->clock);
    if (world->memory == NULL)
        sim_give_up("no memory");
    memory_store_set_sql(world->memory, sim_memory_sql);
    world->base = world->sqlite;
}

/* Mixed, so that every one of some processes that share the seeds gets its part of both. */
void sim_stores_choose(struct sim_world *world, uint64_t seed)
{
    world->in_memory = !world->only_sqlite && sim_mix(seed + UINT64_C(0xA0761D6478BD642F)) % SQLITE_ONE_IN != 0;
    world->base = world->in_memory ? world->memory : world->sqlite;
    for (int i = 0; i < SIM_PROCESSES_MAX * 2; i++)
        world->processes[i / 2].ports[i % 2]->forward.inner = world->base;
    if (world->in_memory)
        memory_store_reset(world->memory);
    else
        sim_sqlite_empty(world->db);
}

void sim_stores_close(struct sim_world *world)
{
    sim_sqlite_close();
    world->sqlite->ops->close(world->sqlite);
    world->memory->ops->close(world->memory);
}
