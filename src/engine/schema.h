/* schema.h - detects that a newer Pawl has migrated the database while this process has it open.
 *
 * A process reads the schema's version before it looks for work, at most once a second.  If the version is newer
 * than its own, it takes no new work, because it cannot know what the new columns mean.  It finishes what it holds.
 * That is safe as long as migrations only add; store/sqlite/migrations.h and store/postgres/migrations.h name the
 * exceptions. */
#ifndef PW_ENGINE_SCHEMA_H
#define PW_ENGINE_SCHEMA_H

#include <stdatomic.h>

#include "store/store.h"

struct pw_schema {
    _Atomic int64_t look_at_ms; /* do not look before this monotonic time */
    _Atomic int64_t newer;      /* the newer version that was found; 0: none */
    _Atomic int64_t known;      /* the newest version that this Pawl knows; 0: it has not looked yet */
};

/* now_ms: monotonic.  Opening the store has just checked the version. */
void pw_schema_init(struct pw_schema *schema, int64_t now_ms);
/* Reads the version if it is time to.  If the read fails, the last result still holds. */
void pw_schema_look(struct pw_schema *schema, struct pw_store *store, int64_t now_ms);

/* The last result: PAWL_OK or PAWL_STORE_TOO_NEW.  Answered from memory. */
pawl_status pw_schema_check(const struct pw_schema *schema, struct pawl_error *error) PAWL_MUST_CHECK;

static inline bool pw_schema_is_newer(const struct pw_schema *schema)
{
    return atomic_load(&schema->newer) != 0;
}

#endif
