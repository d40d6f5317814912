/* fuzz_rows.c - a database whose columns hold anything: wrong types, NULLs, huge numbers, bytes that are no UTF-8.  Each
 * line is one change: table, column and instance, a character each, then the type of the value and the value.  A line
 * that begins with '!' is a call of the service; one that begins with '#' is about what hooks are to be told, and has no
 * table.
 *
 * There must be an answer to every question and to every tick. */
#include <stdio.h>

#include "fuzz_store.h"

enum { ROUNDS_MAX = 8, CHANGES_MAX = 32, COLUMNS_MAX = 19, INSTANCES = 10, LONG_TEXT = 5000, DAY_MS = 86400000 };

struct table {
    const char *name, *key;
    const char *columns[COLUMNS_MAX];
    size_t count;
};

static const struct table tables[] = {
    { "workflow_instance",
      "key",
      { "key", "workflow", "id", "run", "outcome", "params", "output", "error_name", "error_message", "created_at",
        "updated_at", "started_at", "completed_at", "parent", "parent_run", "relation" },
      16 },
    { "workflow_task",
      "instance",
      { "instance", "workflow", "run", "status", "kind", "due_at", "processing", "epoch", "owner", "locked_until",
        "pause_requested", "started_at", "updated_at", "event_seq", "demand" },
      15 },
    { "workflow_step",
      "instance",
      { "instance", "run", "seq", "name", "kind", "status", "attempts", "attempts_max", "timeout", "next_retry_at",
        "wake_at", "event_at", "wait_event_type", "result", "error_name", "error_message", "created_at", "updated_at",
        "description" },
      19 },
    { "workflow_event",
      "instance",
      { "instance", "run", "seq", "id", "type", "payload", "created_at", "delivered_at", "consumed_by" },
      9 },
    { "workflow_run",
      "instance",
      { "instance", "run", "outcome", "output", "error_name", "error_message", "started_at", "completed_at",
        "replaced_at" },
      9 },
    { "workflow_log",
      "instance",
      { "instance", "run", "seq", "step", "attempt", "level", "category", "message", "data", "is_replay",
        "created_at" },
      11 },
};

static const struct table hook_table = { "workflow_hook",
                                         "key",
                                         { "key", "id", "hook", "event", "reason", "outcome", "instance", "run",
                                           "due_at", "error_name", "error_message", "created_at", "attempts",
                                           "attempts_max", "next_at", "locked_until", "epoch", "last_error" },
                                         18 };

static const int64_t numbers[] = { 0,         1,         2,        3,       -1,       INT64_MAX,    INT64_MIN,
                                   INT32_MAX, INT32_MIN, 1L << 32, 1000000, -1000000, FUZZ_START_MS };

static void bind_value(sqlite3_stmt *statement, int parameter, struct fuzz_input *input)
{
    static const double reals[] = { 0.5, 1e300, -1e300, 9.3e18 };
    size_t type = fuzz_choice(input, 7);
    struct pw_text rest = fuzz_rest(input);
    char *text = fuzz_string(rest), *long_text;
    switch (type) {
    case 0:
        break; /* NULL */
    case 1:
        (void)sqlite3_bind_int64(statement, parameter, numbers[fuzz_choice(input, sizeof numbers / sizeof numbers[0])]);
        break;
    case 2:
        (void)sqlite3_bind_int64(statement, parameter, strtoll(text, NULL, 10));
        break;
    case 3:
        (void)sqlite3_bind_double(statement, parameter, reals[fuzz_choice(input, sizeof reals / sizeof reals[0])]);
        break;
    case 4:
        (void)sqlite3_bind_text(statement, parameter, rest.data, (int)rest.size, SQLITE_TRANSIENT);
        break;
    case 5:
        (void)sqlite3_bind_blob(statement, parameter, rest.data, (int)rest.size, SQLITE_TRANSIENT);
        break;
    default:
        long_text = malloc(LONG_TEXT);
        assert(long_text != NULL);
        memset(long_text, rest.size > 0 ? rest.data[0] : 'x', LONG_TEXT);
        (void)sqlite3_bind_text(statement, parameter, long_text, LONG_TEXT, SQLITE_TRANSIENT);
        free(long_text);
        break;
    }
    free(text);
}

/* What the schema refuses stays as it was. */
static void change(struct fuzz_store *store, const struct table *table, struct fuzz_input *line)
{
    const char *column = table->columns[fuzz_choice(line, table->count)];
    sqlite3_stmt *statement = NULL;
    char sql[128];
    (void)snprintf(sql, sizeof sql, "UPDATE OR REPLACE %s SET %s = ?2 WHERE %s = ?1", table->name, column, table->key);
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    assert(code == SQLITE_OK);
    (void)sqlite3_bind_int64(statement, 1, 1 + (int64_t)fuzz_choice(line, INSTANCES));
    bind_value(statement, 2, line);
    (void)sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
}

static pawl_status hear(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    (void)user;
    (void)error;
    assert(delivery->payload_json != NULL && pawl_hook_event_name(delivery->event) != NULL);
    return delivery->attempt % 2 == 0 ? PAWL_OK : PAWL_FAILED;
}

static void add_hook(struct fuzz_store *store)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = "hook";
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = hear;
    pawl_status status = pawl_hook_register(store->engine, &hook, NULL);
    assert(status == PAWL_OK);
}

static void list_deliveries(struct fuzz_store *store, struct pawl_delivery_list_options options)
{
    struct pawl_delivery_page page;
    pawl_scope *scope = pawl_scope_new();
    assert(scope != NULL);
    pawl_status status = pawl_list_deliveries(store->engine, scope, &options, &page, NULL);
    for (size_t i = 0; status == PAWL_OK && i < page.count; i++) {
        assert(page.deliveries[i].delivery.payload_json != NULL);
        (void)!pawl_resend_delivery(store->engine, page.deliveries[i].delivery.id, NULL);
    }
    pawl_scope_free(scope);
}

/* Lists of every kind, and deliveries as time goes on. */
static void deliver(struct fuzz_store *store)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        int64_t next_at_ms = INT64_MAX;
        (void)!pawl_hooks_tick(store->engine, 0, NULL, &next_at_ms, NULL);
        bool later = next_at_ms > store->now_ms && next_at_ms < store->now_ms + DAY_MS;
        store->now_ms = later ? next_at_ms : store->now_ms + 1000;
        options.hook = round % 2 == 0 ? NULL : "hook";
        options.has_status = round / 2 % 3 > 0;
        options.status = round / 2 % 3 == 1 ? PAWL_DELIVERY_PENDING : PAWL_DELIVERY_FAILED;
        list_deliveries(store, options);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_store store;
    struct fuzz_input input = fuzz_input_of(data, size);
    if (store.engine == NULL) {
        pawl_status status = fuzz_store_open(&store, "sqlite::memory:");
        assert(status == PAWL_OK);
        add_hook(&store);
        fuzz_store_populate(&store);
        fuzz_store_populate_linked(&store);
        fuzz_store_save(&store);
    }
    fuzz_store_restore(&store);
    for (int changes = 0; input.left > 0 && changes < CHANGES_MAX; changes++) {
        struct pw_text text = fuzz_line(&input);
        struct fuzz_input line = { text.data, text.size };
        if (line.left > 0 && line.at[0] == '!') {
            (void)fuzz_choice(&line, 1);
            fuzz_store_control(&store, fuzz_choice(&line, FUZZ_CONTROLS));
        } else if (line.left > 0 && line.at[0] == '#') {
            (void)fuzz_choice(&line, 1);
            change(&store, &hook_table, &line);
        } else if (line.left > 0) {
            change(&store, &tables[fuzz_choice(&line, sizeof tables / sizeof tables[0])], &line);
        }
    }
    fuzz_store_read_all(&store);
    fuzz_store_read_linked(&store);
    (void)fuzz_store_run(&store, ROUNDS_MAX);
    fuzz_store_read_all(&store);
    fuzz_store_read_linked(&store);
    deliver(&store);
    return 0;
}
