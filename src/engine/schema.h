/* schema.h - has a newer Pawl migrated the database while this process has it open?
 *
 * Whoever is about to look for work looks at the schema's version first, at most once a second.  A process that finds a newer one
 * takes no new work: it cannot know what the new columns mean for it.  It finishes what it holds, and everything else goes on,
 * because a migration only adds (store/sqlite/migrations.h, store/postgres/migrations.h). */
#ifndef PW_ENGINE_SCHEMA_H
#define PW_ENGINE_SCHEMA_H

#include <stdatomic.h>

#include "store/store.h"

struct pw_schema {
    _Atomic int64_t look_at_ms; /* monotonic: not before */
    _Atomic int64_t newer;      /* the version that was found and that this Pawl does not know; 0: none */
    _Atomic int64_t known;      /* the newest that it knows; 0: it has not looked yet */
};

/* now_ms: monotonic.  The store was just opened, which has looked. */
void pw_schema_init(struct pw_schema *schema, int64_t now_ms);
/* Reads the store, if it is time to.  If that fails, what was known before still holds. */
void pw_schema_look(struct pw_schema *schema, struct pw_store *store, int64_t now_ms);

/* What was found last: PAWL_OK or PAWL_STORE_TOO_NEW.  Answered from memory. */
pawl_status pw_schema_check(const struct pw_schema *schema, struct pawl_error *error) PAWL_MUST_CHECK;

static inline bool pw_schema_is_newer(const struct pw_schema *schema)
{
    return atomic_load(&schema->newer) != 0;
}

#endif
