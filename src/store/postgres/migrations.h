/* migrations.h - the steps that create the PostgreSQL schema and bring an earlier one up to date. */
#ifndef PW_STORE_POSTGRES_MIGRATIONS_H
#define PW_STORE_POSTGRES_MIGRATIONS_H

#include <stddef.h>

#include "store/migration.h"

extern const struct pw_migration pw_postgres_migrations[];
extern const size_t pw_postgres_migration_count;

#endif
