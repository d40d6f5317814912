/* read.h - turns answers into rows, for reads and for transactions, and declares the functions that answer reads.
 * Each is beside its statement, in read.c, or in read_numbers.c if it finds numbers. */
#ifndef PW_STORE_POSTGRES_READ_H
#define PW_STORE_POSTGRES_READ_H

#include "base/rows.h"
#include "store/postgres/fields.h"
#include "store/postgres/postgres.h"

typedef void pw_pg_read_row_fn(struct pw_fields *fields, void *row);

/* Reads all rows of the answer, in place of those that are there.  A row is the fields of `type`, or is read by
 * `read`.  PAWL_OK, PAWL_NOMEM or PAWL_STORE_CORRUPT. */
pawl_status pw_pg_read_rows(const PGresult *result, struct pw_rows *rows, const struct pw_row_type *type,
                            pw_pg_read_row_fn *read);

void pw_pg_read_hook_row(struct pw_fields *fields, void *row);

/* A read under way. */
struct pw_reading {
    struct pw_postgres *postgres;
    const struct pw_read *asked;
    struct pw_arena *arena;
    struct pw_found *found;
    struct pawl_error *error;
    struct pw_call call;
    struct pw_arena scratch; /* for the parameters that are sent */
};

#define PW_POSTGRES_READ(kind, function) pawl_status pw_postgres_##function(struct pw_reading *reading);
PW_READS(PW_POSTGRES_READ)
#undef PW_POSTGRES_READ

#endif
