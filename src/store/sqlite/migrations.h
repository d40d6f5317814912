/* migrations.h - the steps that create the SQLite schema and bring an earlier one up to date. */
#ifndef PW_STORE_SQLITE_MIGRATIONS_H
#define PW_STORE_SQLITE_MIGRATIONS_H

#include <stddef.h>

#include "store/migration.h"

extern const struct pw_migration pw_sqlite_migrations[];
extern const size_t pw_sqlite_migration_count;

#endif
