/* migrations.h - the schema, as the numbered steps that lead to it. */
#ifndef PW_STORE_SQLITE_MIGRATIONS_H
#define PW_STORE_SQLITE_MIGRATIONS_H

#include <stddef.h>
#include <stdint.h>

/* Several pieces may share a version; they come in the order in which they must run.  What has been released is never
 * changed: a new version is appended. */
struct pw_sqlite_migration {
    int64_t version;
    const char *sql;
};

extern const struct pw_sqlite_migration pw_sqlite_migrations[];
extern const size_t pw_sqlite_migration_count;

#endif
