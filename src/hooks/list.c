/* list.c - listing deliveries that wait or have failed, and sending one again. */
#include <stdlib.h>

#include "base/error.h"
#include "hooks/hooks.h"
#include "service/check.h"
#include "service/edit.h"
#include "service/listing.h"
#include "service/rows.h"

static pawl_status show_delivery(pawl_scope *scope, const struct pw_hook_row *row,
                                 struct pawl_delivery_record *out_record)
{
    *out_record = (struct pawl_delivery_record){
        .status = row->next_at_ms != 0 ? PAWL_DELIVERY_PENDING : PAWL_DELIVERY_FAILED,
        .next_attempt_at_ms = row->next_at_ms,
    };
    pawl_status status = pw_delivery_of_row(scope, row, &out_record->delivery);
    if (status == PAWL_OK && !pw_rows_string(scope, row->last_error, &out_record->last_error))
        status = PAWL_NOMEM;
    return status;
}

static pawl_status list_deliveries(struct pw_listing *listing, const struct pawl_delivery_list_options *options,
                                   struct pawl_delivery_page *out_page, struct pawl_error *error)
{
    struct pw_hook_query query = { .hook = pw_text_of(options->hook),
                                   .has_status = options->has_status,
                                   .status = options->status,
                                   .max = listing->max };
    struct pw_hook_row *rows = NULL;
    size_t count = 0;
    const char *cursor;
    pw_cursor_filter_text(&listing->filter, query.hook);
    pw_cursor_filter_number(&listing->filter, options->has_status ? (int64_t)options->status : -1);
    pawl_status status =
        pw_cursor_read(options->cursor, "cursor", listing->kind, listing->filter, &query.after_key, error);
    if (status == PAWL_OK)
        status = pw_list_hooks(listing->engine->store, &listing->arena, &query, &rows, &count, error);
    if (status != PAWL_OK)
        return status;
    struct pawl_delivery_record *records =
        pw_listing_cut(listing, rows, sizeof *rows, /* bytes_of= */ NULL, &count, sizeof *records, &cursor);
    if (records == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        status = show_delivery(listing->scope, &rows[i], &records[i]);
    if (status != PAWL_OK)
        return pw_error_plain(error, status);
    *out_page = (struct pawl_delivery_page){ records, count, cursor };
    return PAWL_OK;
}

pawl_status pawl_list_deliveries(pawl_engine *engine, pawl_scope *scope,
                                 const struct pawl_delivery_list_options *options, struct pawl_delivery_page *out_page,
                                 struct pawl_error *error)
{
    struct pawl_delivery_list_options known = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pw_listing listing = { .engine = engine, .scope = scope, .kind = PW_CURSOR_DELIVERIES };
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_answer(scope, out_page, "out_page", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status == PAWL_OK)
        status = pw_listing_begin(&listing, known.page_size, /* bytes_max= */ 0, PAWL_OLDEST_FIRST, error);
    if (status == PAWL_OK && known.has_status && (unsigned)known.status > PAWL_DELIVERY_FAILED)
        status = pw_error(error, PAWL_INVALID, "status %d is not a delivery's; they are pending and failed",
                          (int)known.status);
    if (status == PAWL_OK)
        status = list_deliveries(&listing, &known, out_page, error);
    return pw_listing_end(&listing, status, error);
}

/* A delivery that is being made due. */
struct resending {
    pawl_engine *engine;
    struct pw_unit unit;
    struct pw_op *op;
    struct pawl_error *error;
    pawl_answered_fn *answered; /* NULL: somebody waits */
    void *user;
};

static pawl_status resending_begin(struct resending *resending, pawl_engine *engine, const char *id,
                                   struct pawl_error *error)
{
    *resending = (struct resending){ .engine = engine, .error = error };
    pw_unit_init(&resending->unit);
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_given(id, "id", error);
    if (status != PAWL_OK)
        return status;
    resending->op = pw_unit_add(&resending->unit, PW_OP_HOOK_RESEND);
    if (resending->op == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    resending->op->as.hook_resend.id = pw_text_of(id);
    return PAWL_OK;
}

static pawl_status resending_end(struct resending *resending)
{
    const struct pw_unit *unit = &resending->unit;
    if (unit->status != PAWL_OK)
        return pw_edit_report(resending->error, unit->status, &unit->error);
    if (!resending->op->as.hook_resend.found) {
        char shown[PW_SHOWN_SIZE];
        return pw_error(resending->error, PAWL_DELIVERY_NOT_FOUND, "no delivery \"%s\" waits or has failed",
                        pw_check_shown(resending->op->as.hook_resend.id, shown));
    }
    pw_hooks_kick(resending->engine);
    return PAWL_OK;
}

pawl_status pawl_resend_delivery(pawl_engine *engine, const char *id, struct pawl_error *error)
{
    struct resending resending;
    pawl_status status = resending_begin(&resending, engine, id, error);
    if (status == PAWL_OK) {
        (void)pw_engine_run(engine, &resending.unit);
        status = resending_end(&resending);
    }
    pw_unit_clear(&resending.unit);
    return status;
}

static void resending_answer(struct resending *resending, pawl_status status)
{
    pawl_answered_fn *answered = resending->answered;
    void *user = resending->user;
    pw_unit_clear(&resending->unit);
    free(resending);
    answered(user, status);
}

static void resending_committed(struct pw_unit *unit, void *user)
{
    (void)unit;
    resending_answer(user, resending_end(user));
}

void pawl_resend_delivery_async(pawl_engine *engine, const char *id, struct pawl_error *error,
                                pawl_answered_fn *answered, void *user)
{
    struct resending *resending = malloc(sizeof *resending);
    if (resending == NULL) {
        answered(user, pw_error_plain(error, PAWL_NOMEM));
        return;
    }
    pawl_status status = resending_begin(resending, engine, id, error);
    resending->answered = answered;
    resending->user = user;
    if (status != PAWL_OK) {
        resending_answer(resending, status);
        return;
    }
    resending->unit.done = resending_committed;
    resending->unit.user = resending;
    pw_engine_send(engine, &resending->unit);
}
