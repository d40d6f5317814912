/* fuzz_rows.c - a database whose columns hold anything: wrong types, NULLs, huge numbers, bytes that are no UTF-8.  Each
 * line is one change: table, column and instance, a character each, then the type of the value and the value.  A line
 * that begins with '!' is a call of the service.
 *
 * There must be an answer to every question and to every tick. */
#include <stdio.h>

#include "fuzz_store.h"

enum { ROUNDS_MAX = 8, CHANGES_MAX = 32, COLUMNS_MAX = 18, INSTANCES = 6, LONG_TEXT = 5000 };

struct table {
    const char *name, *key;
    const char *columns[COLUMNS_MAX];
    size_t count;
};

static const struct table tables[] = {
    { "workflow_instance",
      "key",
      { "key", "workflow", "id", "run", "outcome", "params", "output", "error_name", "error_message", "created_at",
        "updated_at", "started_at", "completed_at" },
      13 },
    { "workflow_task",
      "instance",
      { "instance", "workflow", "run", "status", "kind", "due_at", "processing", "epoch", "owner", "locked_until",
        "pause_requested", "started_at", "updated_at", "event_seq" },
      14 },
    { "workflow_step",
      "instance",
      { "instance", "run", "seq", "name", "kind", "status", "attempts", "attempts_max", "timeout", "next_retry_at",
        "wake_at", "event_at", "wait_event_type", "result", "error_name", "error_message", "created_at", "updated_at" },
      18 },
    { "workflow_event",
      "instance",
      { "instance", "run", "seq", "id", "type", "payload", "created_at", "delivered_at", "consumed_by" },
      9 },
    { "workflow_log",
      "instance",
      { "instance", "run", "seq", "step", "attempt", "level", "category", "message", "data", "is_replay",
        "created_at" },
      11 },
};

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
static void change(struct fuzz_store *store, struct fuzz_input *line)
{
    const struct table *table = &tables[fuzz_choice(line, sizeof tables / sizeof tables[0])];
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_store store;
    struct fuzz_input input = fuzz_input_of(data, size);
    if (store.engine == NULL) {
        pawl_status status = fuzz_store_open(&store, "sqlite::memory:");
        assert(status == PAWL_OK);
        fuzz_store_populate(&store);
        fuzz_store_save(&store);
    }
    fuzz_store_restore(&store);
    for (int changes = 0; input.left > 0 && changes < CHANGES_MAX; changes++) {
        struct pw_text text = fuzz_line(&input);
        struct fuzz_input line = { text.data, text.size };
        if (line.left > 0 && line.at[0] == '!') {
            (void)fuzz_choice(&line, 1);
            fuzz_store_control(&store, fuzz_choice(&line, FUZZ_CONTROLS));
        } else if (line.left > 0) {
            change(&store, &line);
        }
    }
    fuzz_store_read_all(&store);
    (void)fuzz_store_run(&store, ROUNDS_MAX);
    fuzz_store_read_all(&store);
    return 0;
}
