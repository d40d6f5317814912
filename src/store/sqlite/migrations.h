/* migrations.h - the schema, as the numbered steps that lead to it. */
#ifndef PW_STORE_SQLITE_MIGRATIONS_H
#define PW_STORE_SQLITE_MIGRATIONS_H

#include <stddef.h>
#include <stdint.h>

/* Several pieces may share a version; they come in the order in which they must run.  What has been released is never
 * changed: a new version is appended.
 *
 * A migration only adds: tables, indexes, columns that may be NULL or have a default, types of a new name; views keep their
 * columns.  Processes of the version before, which have the database open, go on with what they hold, and what they write
 * must stay right. */
struct pw_sqlite_migration {
    int64_t version;
    const char *sql;
};

extern const struct pw_sqlite_migration pw_sqlite_migrations[];
extern const size_t pw_sqlite_migration_count;

#endif
