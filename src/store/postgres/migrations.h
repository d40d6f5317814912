/* migrations.h - the schema, as the numbered steps that lead to it. */
#ifndef PW_STORE_POSTGRES_MIGRATIONS_H
#define PW_STORE_POSTGRES_MIGRATIONS_H

#include <stddef.h>
#include <stdint.h>

/* Several pieces may share a version; they come in the order in which they must run.  What has been released is never
 * changed: a new version is appended.
 *
 * A migration only adds: tables, indexes, columns that may be NULL or have a default, types of a new name; views keep their
 * columns.  Processes of the version before, which have the database open, go on with what they hold, and what they write
 * must stay right.  Only versions 6 and 8, which came before the first release, do more (docs/operating.md). */
struct pw_postgres_migration {
    int64_t version;
    const char *sql;
};

extern const struct pw_postgres_migration pw_postgres_migrations[];
extern const size_t pw_postgres_migration_count;

#endif
