/* seat.c - which of the databases of one store this one is; see store.h. */
#include "store/postgres/fields.h"
#include "store/postgres/postgres.h"

static pawl_status take_row(void *user, void *of, const PGresult *result)
{
    struct pw_seat *seat = user;
    struct pw_fields fields;
    (void)of;
    pw_fields_init(&fields, result, NULL);
    if (pw_fields_next(&fields)) {
        seat->is_empty = pw_field_integer(&fields) != 0;
        seat->set = pw_field_integer(&fields);
        seat->number = pw_field_integer(&fields);
        seat->count = pw_field_integer(&fields);
    }
    return pw_fields_end(&fields);
}

/* Of two who take it at once the second waits for the first, and then reads what that one has written. */
pawl_status pw_postgres_take_seat(struct pw_store *store, const struct pw_seat *wanted, struct pw_seat *out_seat,
                                  struct pawl_error *error)
{
    struct pw_postgres *postgres = (struct pw_postgres *)store;
    struct pw_seat seat = { .set = 0 };
    struct pw_call call;
    pawl_status status = PAWL_OK;
    if (wanted != NULL) {
        pw_call_init(&call, PW_PG_SEAT_TAKE);
        pw_call_integer(&call, wanted->set);
        pw_call_integer(&call, wanted->number);
        pw_call_integer(&call, wanted->count);
        status = pw_pg_write(postgres, &call, postgres->url.busy_ms, NULL, NULL, error);
    }
    pw_call_init(&call, PW_PG_SEAT_READ);
    if (status == PAWL_OK)
        status = pw_pg_read(postgres, &call, take_row, &seat, error);
    if (status == PAWL_OK)
        *out_seat = seat;
    return status;
}
