/* fuzz_cursor.c - cursors from outside.  The first byte chooses a listing, the second how the rest is meant: as a cursor's
 * text, or as the place in one that is forged with the right kind, filters and checksum.
 *
 * The answer is a page or PAWL_INVALID_CURSOR; a forged one starts somewhere, and no page repeats its own rows. */
#include "fuzz_store.h"
#include "service/cursor.h"

enum { LISTINGS = 4 };

static pawl_status ask_list(struct fuzz_store *store, pawl_scope *scope, const char *cursor, const char **out_cursor)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page = { NULL, 0, NULL };
    options.page_size = 2;
    options.cursor = cursor;
    pawl_status status = pawl_list(store->engine, scope, "w", &options, &page, NULL);
    assert(status != PAWL_OK || page.count <= 2);
    assert(page.count < 2 || strcmp(page.instances[0].id, page.instances[1].id) != 0);
    *out_cursor = page.cursor;
    return status;
}

static pawl_status ask_history(struct fuzz_store *store, pawl_scope *scope, size_t listing, const char *cursor,
                               const char **out_cursor)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history = { 0 };
    options.page_size = 2;
    options.include_logs = true;
    *(listing == 1 ? &options.steps_cursor : listing == 2 ? &options.events_cursor : &options.logs_cursor) = cursor;
    pawl_status status = pawl_get_history(store->engine, scope, "w", "complete", &options, &history, NULL);
    *out_cursor = listing == 1 ? history.steps_cursor : listing == 2 ? history.events_cursor : history.logs_cursor;
    return status;
}

static pawl_status ask(pawl_scope *scope, size_t listing, const char *cursor, const char **out_cursor)
{
    struct fuzz_store *store = fuzz_store_shared();
    return listing == 0 ? ask_list(store, scope, cursor, out_cursor)
                        : ask_history(store, scope, listing, cursor, out_cursor);
}

/* With the place overwritten; everything else as the engine wrote it.  NULL when there is but one page. */
static const char *forge(pawl_scope *scope, size_t listing, struct pw_text bytes)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *written = NULL;
    pawl_status status = ask(scope, listing, NULL, &written);
    assert(status == PAWL_OK);
    if (written == NULL)
        return NULL;
    char *forged = fuzz_string(pw_text_of(written));
    for (size_t i = 0; i < bytes.size && i + 1 < strlen(forged); i++)
        forged[i] = letters[(unsigned char)bytes.data[i] % (sizeof letters - 1)];
    const char *kept = pawl_scope_format(scope, "%s", forged);
    free(forged);
    return kept;
}

/* The place itself, behind a checksum that holds. */
static void check_positions(pawl_scope *scope, size_t listing, struct pw_text bytes)
{
    struct pw_cursor_filter filter = { 0 };
    int64_t position = 0, read = 0;
    memcpy(&position, bytes.data, bytes.size < sizeof position ? bytes.size : sizeof position);
    position &= INT64_MAX;
    position += position == 0;
    const char *text = pw_cursor_write(scope, (enum pw_cursor_kind)(listing + 1), filter, position);
    assert(text != NULL);
    pawl_status status = pw_cursor_read(text, "cursor", (enum pw_cursor_kind)(listing + 1), filter, &read, NULL);
    assert(status == PAWL_OK && read == position);
    pw_cursor_filter_text(&filter, bytes);
    status = pw_cursor_read(text, "cursor", (enum pw_cursor_kind)(listing + 1), filter, &read, NULL);
    assert(status == PAWL_INVALID_CURSOR || status == PAWL_OK); /* OK: one in 2^32 */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input_of(data, size);
    size_t listing = fuzz_choice(&input, LISTINGS);
    size_t meaning = fuzz_choice(&input, 3);
    struct pw_text rest = fuzz_rest(&input);
    const char *next = NULL;
    pawl_scope *scope = pawl_scope_new();
    assert(scope != NULL);
    if (meaning == 2) {
        check_positions(scope, listing, rest);
    } else {
        char *text = fuzz_string(rest);
        const char *cursor = meaning == 0 ? text : forge(scope, listing, rest);
        pawl_status status = ask(scope, listing, cursor, &next);
        assert(status == PAWL_OK || status == PAWL_INVALID_CURSOR);
        free(text);
    }
    pawl_scope_free(scope);
    return 0;
}
