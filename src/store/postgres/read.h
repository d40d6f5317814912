/* read.h - rows of an answer as the store's row types. */
#ifndef PW_STORE_POSTGRES_READ_H
#define PW_STORE_POSTGRES_READ_H

#include "store/postgres/fields.h"
#include "base/rows.h"

typedef void pw_pg_read_row_fn(struct pw_fields *fields, void *row);

/* All rows of the answer, in place of those that are there.  PAWL_OK, PAWL_NOMEM or PAWL_STORE_CORRUPT. */
pawl_status pw_pg_read_rows(const PGresult *result, struct pw_rows *rows, pw_pg_read_row_fn *read_row);

void pw_pg_read_hook_row(struct pw_fields *fields, void *row);

#endif
