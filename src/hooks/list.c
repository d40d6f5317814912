/* list.c - lists deliveries that wait or have failed, and sends one again. */
#include "base/error.h"
#include "hooks/hooks.h"
#include "service/check.h"
#include "service/listing.h"
#include "service/request.h"
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

/* A request to send a delivery again. */
struct resending {
    struct pw_request request;
    struct pw_op_hook_resend *op;
};

static pawl_status resending_end(struct pw_request *request)
{
    char shown[PW_SHOWN_SIZE];
    const struct pw_op_hook_resend *op = ((const struct resending *)request)->op;
    if (request->unit.status != PAWL_OK)
        return pw_request_report(request);
    if (!op->found)
        return pw_error(request->error, PAWL_DELIVERY_NOT_FOUND, "no delivery \"%s\" waits or has failed",
                        pw_check_shown(op->id, shown));
    pw_hooks_kick(request->engine);
    return PAWL_OK;
}

static pawl_status resending_begin(struct resending *resending, const char *id)
{
    struct pw_request *request = &resending->request;
    PAWL_TRY(pw_check_given(request->engine, "engine", request->error));
    PAWL_TRY(pw_check_given(id, "id", request->error));
    struct pw_op *op = pw_unit_add(&request->unit, PW_OP_HOOK_RESEND);
    if (op == NULL)
        return pw_error_plain(request->error, PAWL_NOMEM);
    resending->op = &op->as.hook_resend;
    resending->op->id = pw_text_of(id);
    return PAWL_OK;
}

static pawl_status resend(pawl_engine *engine, const char *id, struct pawl_error *error, pawl_answered_fn *answered,
                          void *user)
{
    struct resending *resending = pw_request_new(sizeof *resending, engine, resending_end, error, answered, user);
    if (resending == NULL)
        return PAWL_NOMEM;
    return pw_request_go(&resending->request, resending_begin(resending, id));
}

pawl_status pawl_resend_delivery(pawl_engine *engine, const char *id, struct pawl_error *error)
{
    return resend(engine, id, error, NULL, NULL);
}

void pawl_resend_delivery_async(pawl_engine *engine, const char *id, struct pawl_error *error,
                                pawl_answered_fn *answered, void *user)
{
    (void)resend(engine, id, error, answered, user);
}
