/* fuzz_history.c - replay of histories that no engine of ours wrote, but might have been written by another version of the
 * code, by hand, or by a bug.  Each line is a row of the instance "new": a letter for the table, then one character for
 * each column, which chooses among values that mean something.
 *
 * Whatever they say, the run comes to an end (or to a pause, or to a wait beyond all time) within a bounded number of
 * turns. */
#include "base/limits.h"
#include "fuzz_store.h"

enum { ROUNDS_MAX = 64, ROWS_MAX = 64 };

static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", " a ", "" };
static const char *const types[] = { "go", "stop", "x", NULL };
static const char *const jsons[] = { NULL, "0", "1",   "2", "{\"n\": 1}", "\"x\"", "-1", "18446744073709551616",
                                     "[1", "",  "\xff" };
static const int64_t numbers[] = { 0, 1, 2, 3, 6, -1, INT64_MAX, INT64_MIN, 1000, PW_TIME_MS_MAX };
/* 0 stands for NULL. */
static const int64_t times[] = { 0,
                                 FUZZ_START_MS,
                                 FUZZ_START_MS - 3600000,
                                 FUZZ_START_MS + 3600000,
                                 FUZZ_START_MS + 86400000,
                                 PW_TIME_MS_MAX,
                                 1,
                                 -1,
                                 INT64_MAX,
                                 INT64_MIN };

#define CHOOSE(input, values) ((values)[fuzz_choice(input, sizeof(values) / sizeof(values)[0])])

struct row {
    sqlite3_stmt *statement;
    struct fuzz_input *input;
    int parameter;
};

static void begin(struct row *row, sqlite3 *db, struct fuzz_input *input, const char *sql)
{
    *row = (struct row){ .input = input };
    int code = sqlite3_prepare_v2(db, sql, -1, &row->statement, NULL);
    assert(code == SQLITE_OK);
}

static void put_text(struct row *row, const char *text)
{
    (void)sqlite3_bind_text(row->statement, ++row->parameter, text, -1, SQLITE_STATIC);
}

static void put_number(struct row *row, int64_t number)
{
    (void)sqlite3_bind_int64(row->statement, ++row->parameter, number);
}

static void put_time(struct row *row)
{
    int64_t time = CHOOSE(row->input, times);
    row->parameter++;
    if (time != 0)
        (void)sqlite3_bind_int64(row->statement, row->parameter, time);
}

/* A row that the schema refuses is not written. */
static void end(struct row *row)
{
    (void)sqlite3_step(row->statement);
    (void)sqlite3_finalize(row->statement);
}

/* S name kind status attempts attempts_max next_retry_at wake_at event_at type result error */
static void add_step(sqlite3 *db, struct fuzz_input *input, int64_t seq)
{
    struct row row;
    begin(
        &row, db, input,
        "INSERT OR REPLACE INTO workflow_step (instance, run, seq, name, kind, status, attempts, attempts_max, timeout,"
        " next_retry_at, wake_at, event_at, wait_event_type, result, error_name, error_message, created_at, updated_at)"
        " SELECT key, run, ?1, ?2, ?3, ?4, ?5, ?6, 60000, ?7, ?8, ?9, ?10, ?11, ?12, ?12, 1, 1 FROM workflow_instance"
        " WHERE id = 'new'");
    put_number(&row, seq);
    put_text(&row, CHOOSE(input, names));
    put_number(&row, (int64_t)fuzz_choice(input, 6));
    put_number(&row, (int64_t)fuzz_choice(input, 5));
    put_number(&row, CHOOSE(input, numbers));
    put_number(&row, CHOOSE(input, numbers));
    put_time(&row);
    put_time(&row);
    put_time(&row);
    put_text(&row, CHOOSE(input, types));
    put_text(&row, CHOOSE(input, jsons));
    put_text(&row, CHOOSE(input, types));
    end(&row);
}

/* E type payload created_at delivered_at */
static void add_event(sqlite3 *db, struct fuzz_input *input, int64_t seq)
{
    struct row row;
    begin(&row, db, input,
          "INSERT OR REPLACE INTO workflow_event (instance, run, seq, id, type, payload, created_at, delivered_at)"
          " SELECT key, run, ?1, 'e' || ?1, ?2, ?3, ?4, ?5 FROM workflow_instance WHERE id = 'new'");
    put_number(&row, seq);
    put_text(&row, CHOOSE(input, types));
    put_text(&row, CHOOSE(input, jsons));
    put_time(&row);
    put_time(&row);
    end(&row);
}

/* T status kind due_at processing locked_until pause_requested started_at event_seq */
static void change_task(sqlite3 *db, struct fuzz_input *input)
{
    struct row row;
    begin(&row, db, input,
          "UPDATE workflow_task SET status = ?1, kind = ?2, due_at = ?3, processing = ?4, locked_until = ?5,"
          " pause_requested = ?6, started_at = ?7, event_seq = ?8"
          " WHERE instance = (SELECT key FROM workflow_instance WHERE id = 'new')");
    put_number(&row, (int64_t)fuzz_choice(input, 4));
    put_number(&row, (int64_t)fuzz_choice(input, 5));
    put_time(&row);
    put_number(&row, (int64_t)fuzz_choice(input, 2));
    put_time(&row);
    put_number(&row, (int64_t)fuzz_choice(input, 2));
    put_time(&row);
    put_number(&row, CHOOSE(input, numbers));
    end(&row);
}

/* P params */
static void change_params(sqlite3 *db, struct fuzz_input *input)
{
    struct row row;
    begin(&row, db, input, "UPDATE workflow_instance SET params = ?1 WHERE id = 'new'");
    put_text(&row, CHOOSE(input, jsons));
    end(&row);
}

static void write_rows(struct fuzz_store *store, struct fuzz_input *input)
{
    for (int64_t seq = 1; input->left > 0 && seq <= ROWS_MAX; seq++) {
        struct pw_text text = fuzz_line(input);
        struct fuzz_input line = { text.data, text.size };
        if (line.left == 0)
            continue;
        char table = *line.at++;
        line.left--;
        if (table == 'S')
            add_step(store->db, &line, seq);
        else if (table == 'E')
            add_event(store->db, &line, seq);
        else if (table == 'T')
            change_task(store->db, &line);
        else if (table == 'P')
            change_params(store->db, &line);
        else if (table == 'C')
            fuzz_store_control(store, fuzz_choice(&line, FUZZ_CONTROLS));
    }
}

/* One instance whose first turn has been: its rows are read. */
static void make_base(struct fuzz_store *store)
{
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    struct pawl_instance instance;
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = fuzz_store_open(store, "sqlite::memory:");
    assert(status == PAWL_OK && scope != NULL);
    options.id = "new";
    options.params_json = "{}";
    status = pawl_create(store->engine, scope, "w", &options, &instance, NULL);
    assert(status == PAWL_OK);
    pawl_scope_free(scope);
    int code = sqlite3_exec(store->db, "UPDATE workflow_task SET started_at = 1, event_seq = 1000", NULL, NULL, NULL);
    assert(code == SQLITE_OK);
    fuzz_store_save(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz_store store;
    struct fuzz_input input = fuzz_input_of(data, size);
    if (store.engine == NULL)
        make_base(&store);
    fuzz_store_restore(&store);
    write_rows(&store, &input);
    bool settled = fuzz_store_run(&store, ROUNDS_MAX);
    assert(settled);
    fuzz_store_read_all(&store);
    return 0;
}
