/* connection.c - see connection.h.
 *
 * The busy handler is our own.  SQLite's backs off to 100 ms, and a process that sleeps that long among others that
 * do not hardly ever gets the lock.  Ours sleeps 0.1 to 1 ms, with a random part so that two processes that collide
 * do not collide again. */
#include "store/sqlite/connection.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/guard.h"

enum { PAUSE_US_MIN = 100, PAUSE_US_MAX = 1000 };

static const struct pw_statement queries[PW_STATEMENTS_MAX] = { PW_SQLITE_QUERIES(PW_STATEMENT) };

const struct pw_statement *pw_sqlite_query(unsigned number)
{
    static const struct pw_statement *const files[] = { queries, pw_sqlite_queries_of_read,
                                                        pw_sqlite_queries_of_read_numbers };
    return &files[number / PW_STATEMENTS_MAX][number % PW_STATEMENTS_MAX];
}

static void pause_briefly(int round)
{
    uint16_t chance = 0;
    pw_system_random(NULL, &chance, sizeof chance);

    long pause_us = PAUSE_US_MIN * (1L + round);
    if (pause_us > PAUSE_US_MAX)
        pause_us = PAUSE_US_MAX;
    pause_us = pause_us / 2 + chance % pause_us;
    struct timespec pause = { .tv_sec = 0, .tv_nsec = pause_us * 1000 };
    (void)nanosleep(&pause, NULL);
}

static int wait_while_busy(void *user, int round)
{
    struct pw_sqlite_connection *connection = user;
    if (round == 0)
        connection->busy_since_ms = pw_system_monotonic_ms();
    else if (pw_system_monotonic_ms() - connection->busy_since_ms >= connection->url->busy_ms)
        return 0;
    pause_briefly(round);
    return 1;
}

/* SQLite only says "unable to open database file".  One of these is the usual reason. */
static pawl_status explain_cannot_open(const struct pw_sqlite_connection *connection, int code,
                                       struct pawl_error *error)
{
    const char *path = connection->url->path;
    struct stat about;
    if ((code & 0xff) != SQLITE_CANTOPEN)
        return pw_sqlite_error(connection, code, error);
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: is a directory; name a file", path);
    return pw_error(error, PAWL_STORE_UNAVAILABLE,
                    "%s: cannot be opened; its directory must exist and be writable, and the file must be one", path);
}

/* Leaving rollback-journal mode takes a lock for which SQLite does not always call the busy handler. */
static pawl_status enter_wal_mode(struct pw_sqlite_connection *connection, struct pawl_error *error)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(connection->db, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    int64_t begun_ms = pw_system_monotonic_ms();
    for (int round = 0; code == SQLITE_OK; round++) {
        int step = sqlite3_step(statement);
        if ((step & 0xff) != SQLITE_BUSY || pw_system_monotonic_ms() - begun_ms >= connection->url->busy_ms) {
            code = step;
            break;
        }
        (void)sqlite3_reset(statement);
        pause_briefly(round);
    }

    pawl_status status = PAWL_OK;
    if (code != SQLITE_ROW)
        status = explain_cannot_open(connection, code, error);
    else if (sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "wal") != 0)
        status =
            pw_error(error, PAWL_STORE_UNAVAILABLE,
                     "%s: cannot be kept with a write-ahead log here; use a local file system", connection->url->path);
    (void)sqlite3_finalize(statement);
    return status;
}

/* Creates the file with our mode, because SQLite would use whatever the umask allows.  If that fails, opening it
 * reports why. */
static void create_file(const struct pw_sqlite_url *url)
{
    int file = pw_sqlite_file_create(url->path, url->mode);
    if (file >= 0)
        (void)close(file);
}

/* Before the first read SQLite touches only the database file itself, so there is time to check that it is the right
 * one. */
static pawl_status open_connection(struct pw_sqlite_connection *connection, const struct pw_sqlite_url *url,
                                   const struct pw_sqlite_file *file, struct pawl_error *error)
{
    const char *path = file != NULL ? file->path : url->path;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (url->in_memory ? SQLITE_OPEN_CREATE : 0);
    *connection = (struct pw_sqlite_connection){ .url = url, .file = file };
    pawl_status status = file != NULL ? pw_sqlite_file_check(file, error) : PAWL_OK;
    if (status != PAWL_OK)
        return status;
    if (file == NULL && !url->in_memory)
        create_file(url);
    int code = sqlite3_open_v2(path, &connection->db, flags, NULL);
    if (connection->db == NULL)
        return pw_error_plain(error, PAWL_NOMEM);
    if (code != SQLITE_OK)
        return explain_cannot_open(connection, code, error);

    (void)sqlite3_extended_result_codes(connection->db, 1);
    (void)sqlite3_busy_handler(connection->db, wait_while_busy, connection);
    if (sqlite3_db_readonly(connection->db, "main") == 1)
        return pw_sqlite_error(connection, SQLITE_READONLY, error);
    return file != NULL ? pw_sqlite_file_check_opened(file, connection->db, error) : PAWL_OK;
}

static pawl_status set_up_writer(struct pw_sqlite_connection *connection, struct pawl_error *error)
{
    static const char settings[] = "PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -8192;"
                                   "PRAGMA wal_autocheckpoint = 4000";
    if (!connection->url->in_memory) {
        pawl_status status = enter_wal_mode(connection, error);
        if (status != PAWL_OK)
            return status;
    }
    const char *synchronous =
        connection->url->synchronous_full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL";
    int code = sqlite3_exec(connection->db, synchronous, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_exec(connection->db, settings, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = pw_sqlite_install_guard(connection);
    return code == SQLITE_OK ? PAWL_OK : pw_sqlite_error(connection, code, error);
}

pawl_status pw_sqlite_open_writer(struct pw_sqlite_connection *connection, const struct pw_sqlite_url *url,
                                  const struct pw_sqlite_file *file, struct pawl_error *error)
{
    pawl_status status = open_connection(connection, url, file, error);
    if (status == PAWL_OK)
        status = set_up_writer(connection, error);
    if (status != PAWL_OK)
        pw_sqlite_close(connection);
    return status;
}

pawl_status pw_sqlite_open_reader(struct pw_sqlite_connection *connection, const struct pw_sqlite_url *url,
                                  const struct pw_sqlite_file *file, struct pawl_error *error)
{
    static const char settings[] = "PRAGMA query_only = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048";
    pawl_status status = open_connection(connection, url, file, error);
    if (status == PAWL_OK) {
        int code = sqlite3_exec(connection->db, settings, NULL, NULL, NULL);
        if (code != SQLITE_OK)
            status = pw_sqlite_error(connection, code, error);
    }
    if (status != PAWL_OK)
        pw_sqlite_close(connection);
    return status;
}

/* Uses close_v2, because a user's function may have left a statement of its own behind. */
void pw_sqlite_close(struct pw_sqlite_connection *connection)
{
    for (size_t name = 0; name < PW_QUERY_COUNT; name++) {
        (void)sqlite3_finalize(connection->statements[name]);
        connection->statements[name] = NULL;
    }
    if (connection->db != NULL && connection->file != NULL && pw_sqlite_file_check(connection->file, NULL) != PAWL_OK)
        (void)sqlite3_db_config(connection->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    (void)sqlite3_close_v2(connection->db);
    connection->db = NULL;
}

int pw_sqlite_statement(struct pw_sqlite_connection *connection, unsigned name, sqlite3_stmt **out_statement)
{
    if (connection->statements[name] == NULL) {
        int code = sqlite3_prepare_v3(connection->db, pw_sqlite_query(name)->text, -1, SQLITE_PREPARE_PERSISTENT,
                                      &connection->statements[name], NULL);
        if (code != SQLITE_OK)
            return code;
    }
    *out_statement = connection->statements[name];
    return SQLITE_OK;
}
