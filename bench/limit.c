/* limit.c - see limit.h. */
#include "limit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

struct limit {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *history, *task;
    int64_t written;
};

static void check(struct limit *limit, bool holds)
{
    if (holds)
        return;
    fprintf(stderr, "bench: limit: %s\n", sqlite3_errmsg(limit->db));
    exit(1);
}

static sqlite3_stmt *prepare(struct limit *limit, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    check(limit, sqlite3_prepare_v3(limit->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK);
    return statement;
}

struct limit *limit_open(const char *path)
{
    static const char set_up[] = "PRAGMA journal_mode = WAL;"
                                 "PRAGMA synchronous = FULL;"
                                 "PRAGMA temp_store = MEMORY;"
                                 "PRAGMA cache_size = -8192;"
                                 "PRAGMA wal_autocheckpoint = 4000;"
                                 "CREATE TABLE history (key INTEGER PRIMARY KEY, run INTEGER, name TEXT, result TEXT,"
                                 "                      created_at INTEGER, updated_at INTEGER);"
                                 "CREATE TABLE task (key INTEGER PRIMARY KEY, run INTEGER, name TEXT, result TEXT,"
                                 "                   created_at INTEGER, updated_at INTEGER);";
    struct limit *limit = calloc(1, sizeof *limit);
    bench_require(limit != NULL, "out of memory");
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(limit, sqlite3_open_v2(path, &limit->db, flags, NULL) == SQLITE_OK);
    check(limit, sqlite3_exec(limit->db, set_up, NULL, NULL, NULL) == SQLITE_OK);
    limit->begin = prepare(limit, "BEGIN IMMEDIATE");
    limit->commit = prepare(limit, "COMMIT");
    limit->history = prepare(limit, "INSERT INTO history VALUES (NULL, ?1, ?2, ?3, ?4, ?4)");
    limit->task = prepare(limit, "INSERT INTO task VALUES (NULL, ?1, ?2, ?3, ?4, ?4)");
    return limit;
}

void limit_close(struct limit *limit)
{
    sqlite3_finalize(limit->begin);
    sqlite3_finalize(limit->commit);
    sqlite3_finalize(limit->history);
    sqlite3_finalize(limit->task);
    sqlite3_close(limit->db);
    free(limit);
}

void limit_warm_up(struct limit *limit)
{
    /* More than wal_autocheckpoint pages in one commit. */
    check(limit, sqlite3_exec(limit->db, "INSERT INTO task (result) VALUES (zeroblob(20000000))", NULL, NULL, NULL) ==
                     SQLITE_OK);
}

static void step_to_end(struct limit *limit, sqlite3_stmt *statement)
{
    check(limit, sqlite3_step(statement) == SQLITE_DONE);
    check(limit, sqlite3_reset(statement) == SQLITE_OK);
}

static void insert(struct limit *limit, sqlite3_stmt *statement)
{
    static const char name[] = "a step with a name", result[] = "{\"result\": \"none\"}";
    int64_t moment_ms = INT64_C(1767225600000) + limit->written;
    sqlite3_bind_int64(statement, 1, limit->written / 10);
    sqlite3_bind_text(statement, 2, name, (int)sizeof name - 1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, result, (int)sizeof result - 1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, moment_ms);
    step_to_end(limit, statement);
}

void limit_transaction(struct limit *limit, int64_t steps)
{
    step_to_end(limit, limit->begin);
    for (int64_t i = 0; i < steps; i++) {
        insert(limit, limit->history);
        insert(limit, limit->task);
        limit->written++;
    }
    step_to_end(limit, limit->commit);
}

double limit_rate(const char *path, int64_t steps, int64_t steps_a_transaction)
{
    struct limit *limit = limit_open(path);
    limit_warm_up(limit);
    double begun_us = bench_now_us();
    while (limit->written < steps)
        limit_transaction(limit, steps_a_transaction);
    double rate = (double)limit->written * 1e6 / (bench_now_us() - begun_us);
    limit_close(limit);
    (void)unlink(path);
    return rate;
}
