/* schema.c - see schema.h. */
#include "engine/schema.h"

#include "base/error.h"
#include "engine/engine.h"

enum { LOOK_EVERY_MS = 1000 };

void pw_schema_init(struct pw_schema *schema, int64_t now_ms)
{
    atomic_store(&schema->look_at_ms, now_ms + LOOK_EVERY_MS);
}

void pw_schema_look(struct pw_schema *schema, struct pw_store *store, int64_t now_ms)
{
    int64_t look_at_ms = atomic_load(&schema->look_at_ms);
    const struct pw_read asked = { .kind = PW_READ_SCHEMA };
    struct pw_found found;
    if (now_ms < look_at_ms ||
        !atomic_compare_exchange_strong(&schema->look_at_ms, &look_at_ms, now_ms + LOOK_EVERY_MS))
        return;
    if (pw_read(store, &asked, NULL, &found, NULL) != PAWL_OK)
        return;
    atomic_store(&schema->known, found.schema.known);
    atomic_store(&schema->newer, found.schema.version > found.schema.known ? found.schema.version : 0);
}

pawl_status pw_schema_check(const struct pw_schema *schema, struct pawl_error *error)
{
    int64_t newer = atomic_load(&schema->newer);
    if (newer == 0)
        return PAWL_OK;
    return pw_error(error, PAWL_STORE_TOO_NEW,
                    "a newer Pawl has migrated the database to schema version %lld, and this one knows versions up to "
                    "%lld: it takes no new work and finishes what it holds; replace it with a newer Pawl",
                    (long long)newer, (long long)atomic_load(&schema->known));
}

pawl_status pawl_check_schema(pawl_engine *engine, struct pawl_error *error)
{
    if (engine == NULL)
        return pw_error(error, PAWL_INVALID, "the engine is missing (NULL)");
    pw_schema_look(&engine->schema, engine->store, pw_engine_monotonic_ms(engine));
    return pw_schema_check(&engine->schema, error);
}
