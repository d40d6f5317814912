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
    pawl_answered_fn *answered; /* of the call that does not wait */
    void *user;
};

/* On success the resending must be ended. */
static pawl_status resending_begin(struct resending *resending, pawl_engine *engine, const char *id,
                                   struct pawl_error *error)
{
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_given(id, "id", error);
    if (status != PAWL_OK)
        return status;
    *resending = (struct resending){ .engine = engine, .error = error };
    pw_unit_init(&resending->unit);
    resending->op = pw_unit_add(&resending->unit, PW_OP_HOOK_RESEND);
    if (resending->op == NULL) /* the unit is still empty and need not be cleared */
        return pw_error_plain(error, PAWL_NOMEM);
    resending->op->as.hook_resend.id = pw_text_of(id);
    return PAWL_OK;
}

/* The unit is answered. */
static pawl_status resending_end(struct resending *resending)
{
    char shown[PW_SHOWN_SIZE];
    pawl_status status = resending->unit.status;
    if (status != PAWL_OK)
        (void)pw_edit_report(resending->error, status, &resending->unit.error);
    else if (!resending->op->as.hook_resend.found)
        status = pw_error(resending->error, PAWL_DELIVERY_NOT_FOUND, "no delivery \"%s\" waits or has failed",
                          pw_check_shown(resending->op->as.hook_resend.id, shown));
    else
        pw_hooks_kick(resending->engine);
    pw_unit_clear(&resending->unit);
    return status;
}

pawl_status pawl_resend_delivery(pawl_engine *engine, const char *id, struct pawl_error *error)
{
    struct resending resending;
    pawl_status status = resending_begin(&resending, engine, id, error);
    if (status != PAWL_OK)
        return status;
    (void)pw_engine_run(engine, &resending.unit);
    return resending_end(&resending);
}

static void resent(struct pw_unit *unit, void *user)
{
    struct resending *resending = user;
    pawl_answered_fn *answered = resending->answered;
    void *answered_user = resending->user;
    (void)unit;
    pawl_status status = resending_end(resending);
    free(resending);
    answered(answered_user, status);
}

void pawl_resend_delivery_async(pawl_engine *engine, const char *id, struct pawl_error *error,
                                pawl_answered_fn *answered, void *user)
{
    struct resending *resending = malloc(sizeof *resending);
    pawl_status status =
        resending != NULL ? resending_begin(resending, engine, id, error) : pw_error_plain(error, PAWL_NOMEM);
    if (status != PAWL_OK) {
        free(resending);
        answered(user, status);
        return;
    }
    resending->answered = answered;
    resending->user = user;
    resending->unit.done = resent;
    resending->unit.user = resending;
    pw_engine_send(engine, &resending->unit);
}
