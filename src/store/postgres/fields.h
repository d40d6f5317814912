/* fields.h - reads the columns of an answer in order, row by row.  The first error is remembered, and
 * pw_fields_end() returns it. */
#ifndef PW_STORE_POSTGRES_FIELDS_H
#define PW_STORE_POSTGRES_FIELDS_H

#include <libpq-fe.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/fields.h"
#include "store/store.h"

struct pw_fields {
    const PGresult *result;
    struct pw_arena *arena; /* for the texts */
    int row, column;
    pawl_status status;
};

void pw_fields_init(struct pw_fields *fields, const PGresult *result, struct pw_arena *arena);
/* Goes to the next row.  False: there is none. */
bool pw_fields_next(struct pw_fields *fields);

int64_t pw_field_integer(struct pw_fields *fields); /* NULL is 0 */
int64_t pw_field_count(struct pw_fields *fields);   /* see core/fields.h */
int64_t pw_field_time(struct pw_fields *fields);
int64_t pw_field_place(struct pw_fields *fields);
/* An enumerator from 0 to `most`. */
int pw_field_choice(struct pw_fields *fields, int most);
bool pw_field_is_null(const struct pw_fields *fields);
struct pw_link pw_field_link(struct pw_fields *fields); /* three columns */
struct pw_text pw_field_text(struct pw_fields *fields); /* a copy; NULL is absent */
/* Reads one column for each field of the type. */
void pw_field_row(struct pw_fields *fields, const struct pw_row_type *type, void *row);

/* PAWL_OK, PAWL_NOMEM or PAWL_STORE_CORRUPT. */
pawl_status pw_fields_end(const struct pw_fields *fields);

/* The first row of an answer that consists of numbers.  Missing columns are 0, and all are if there is no row. */
enum { PW_NUMBERS_MAX = 8 };
struct pw_numbers {
    bool is_found;
    int64_t of[PW_NUMBERS_MAX];
};
/* A pw_pg_take_fn whose `user` is a struct pw_numbers. */
pawl_status pw_numbers_take(void *user, const PGresult *result);

#endif
