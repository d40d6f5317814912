/* list.c - lists deliveries that are due or have failed, and sends them again. */
#include <stdlib.h>

#include "base/error.h"
#include "hooks/hooks.h"
#include "service/check.h"
#include "service/cursor.h"
#include "service/edit.h"
#include "service/rows.h"

static pawl_status check_list(const struct pawl_delivery_list_options *options, struct pw_hook_query *query,
                              struct pw_cursor_filter *filter, struct pawl_error *error)
{
    size_t page_size;
    pawl_status status = pw_check_page_size(options->page_size, &page_size, error);
    if (status != PAWL_OK)
        return status;
    if (options->has_status && (unsigned)options->status > PAWL_DELIVERY_FAILED)
        return pw_error(error, PAWL_INVALID, "status %d is not a delivery's; they are pending and failed",
                        (int)options->status);
    query->hook = pw_text_of(options->hook);
    query->has_status = options->has_status;
    query->status = options->status;
    query->max = page_size + 1; /* one more, to know whether there is another page */
    pw_cursor_filter_text(filter, query->hook);
    pw_cursor_filter_number(filter, options->has_status ? (int64_t)options->status : -1);
    return pw_cursor_read(options->cursor, "cursor", PW_CURSOR_DELIVERIES, *filter, &query->after_key, error);
}

static pawl_status answer_page(pawl_scope *scope, const struct pw_hook_row *rows, size_t count,
                               const struct pw_hook_query *query, struct pw_cursor_filter filter,
                               struct pawl_delivery_page *out_page)
{
    bool has_more = count == query->max;
    size_t given = has_more ? query->max - 1 : count;
    struct pawl_delivery_record *records = pw_scope_take(scope, given * sizeof *records + 1); /* not NULL for none */
    if (records == NULL)
        return PAWL_NOMEM;
    for (size_t i = 0; i < given; i++) {
        records[i] = (struct pawl_delivery_record){
            .status = rows[i].next_at_ms != 0 ? PAWL_DELIVERY_PENDING : PAWL_DELIVERY_FAILED,
            .next_attempt_at_ms = rows[i].next_at_ms,
        };
        pawl_status status = pw_delivery_of_row(scope, &rows[i], &records[i].delivery);
        if (status == PAWL_OK && !pw_rows_string(scope, rows[i].last_error, &records[i].last_error))
            status = PAWL_NOMEM;
        if (status != PAWL_OK)
            return status;
    }
    const char *cursor = has_more ? pw_cursor_write(scope, PW_CURSOR_DELIVERIES, filter, rows[given - 1].key) : NULL;
    if (has_more && cursor == NULL)
        return PAWL_NOMEM;
    *out_page = (struct pawl_delivery_page){ records, given, cursor };
    return PAWL_OK;
}

pawl_status pawl_list_deliveries(pawl_engine *engine, pawl_scope *scope,
                                 const struct pawl_delivery_list_options *options, struct pawl_delivery_page *out_page,
                                 struct pawl_error *error)
{
    struct pawl_delivery_list_options known = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pw_cursor_filter filter = { 0 };
    struct pw_hook_query query = { .after_key = 0 };
    pawl_status status = pw_check_given(engine, "engine", error);
    if (status == PAWL_OK)
        status = pw_check_given(scope, "scope", error);
    if (status == PAWL_OK)
        status = pw_check_given(out_page, "out_page", error);
    if (status == PAWL_OK)
        status = pw_check_options(options, &known, sizeof known, error);
    if (status != PAWL_OK)
        return status;
    status = check_list(&known, &query, &filter, error);
    if (status != PAWL_OK)
        return status;

    struct pw_arena arena;
    struct pw_hook_row *rows = NULL;
    size_t count = 0;
    pw_arena_init(&arena);
    status = pw_list_hooks(engine->store, &arena, &query, &rows, &count, error);
    if (status == PAWL_OK) {
        status = answer_page(scope, rows, count, &query, filter, out_page);
        if (status != PAWL_OK)
            (void)pw_error_plain(error, status);
    }
    pw_arena_clear(&arena);
    return status;
}

/* A delivery that is being made due. */
struct resending {
    pawl_engine *engine;
    struct pw_unit unit;
    struct pw_op *op;
    struct pawl_error *error;
    pawl_answered_fn *answered; /* unused if the caller waits */
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
