/* migrations.h - the schema: its tables as the numbered steps that lead to them, and its views. */
#ifndef PW_STORE_SQLITE_MIGRATIONS_H
#define PW_STORE_SQLITE_MIGRATIONS_H

#include <stddef.h>
#include <stdint.h>

/* Several pieces may share a version; they come in the order in which they must run.  What has been released is never
 * changed: a new version is appended.
 *
 * A migration only adds: tables, indexes, columns that may be NULL or have a default, types of a new name; views keep their
 * columns.  Processes of the version before, which have the database open, go on with what they hold, and what they write
 * must stay right.  Only versions 6 and 8, which came before the first release, do more (docs/operating.md). */
struct pw_sqlite_migration {
    int64_t version;
    const char *sql;
};

extern const struct pw_sqlite_migration pw_sqlite_migrations[];
extern const size_t pw_sqlite_migration_count;

/* The views, as they are now.  Each migration makes all of them anew, behind the tables: a view that is there costs
 * every ALTER TABLE dearly, and so a new database has none before its tables are complete. */
struct pw_sqlite_view {
    int64_t since; /* the version that brought it: a database of that version has it, and it is dropped first */
    const char *drop, *create;
};

extern const struct pw_sqlite_view pw_sqlite_views[];
extern const size_t pw_sqlite_view_count;

#endif
