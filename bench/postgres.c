/* postgres.c - see postgres.h. */
#include "postgres.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_SCHEMA "bench_limit"

enum { CONNECTIONS_MAX = 16, ARRAY_BYTES_MAX = 20 + LIMIT_POSTGRES_STEPS_MAX * 32 };

static void check(PGconn *db, bool holds)
{
    if (!holds)
        fprintf(stderr, "bench: %s", PQerrorMessage(db));
    bench_require(holds, "PostgreSQL failed the benchmark");
}

static const char *folder(void)
{
    const char *path = getenv("PAWL_BENCH_POSTGRES");
    bench_require(path != NULL, "there is no PostgreSQL: run this by tools/bench, which starts one");
    return path;
}

static void execute(PGconn *db, const char *sql)
{
    PGresult *result = PQexec(db, sql);
    check(db, PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK);
    PQclear(result);
}

static PGconn *open_database(const char *schema)
{
    char sql[128];
    const char *names[] = { "host", "user", "dbname", NULL };
    const char *values[] = { folder(), "pawl", "postgres", NULL };
    PGconn *db = PQconnectdbParams(names, values, 0);
    check(db, PQstatus(db) == CONNECTION_OK);
    snprintf(sql, sizeof sql, "SET client_min_messages TO warning; SET search_path TO %s", schema);
    execute(db, sql);
    return db;
}

/* ---- The engine's place ------------------------------------------------------------------------------------------ */

void bench_postgres_execute(const char *schema, const char *sql)
{
    PGconn *db = open_database(schema);
    execute(db, sql);
    PQfinish(db);
}

static void drop(const char *schema)
{
    char sql[128];
    snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS %s CASCADE", schema);
    bench_postgres_execute(schema, sql);
}

void bench_postgres_place_make(struct bench_place *place, const char *schema)
{
    *place = (struct bench_place){ .directory = "" };
    drop(schema); /* left by a benchmark that was aborted */
    int size = snprintf(place->store_url, sizeof place->store_url,
                        "postgres:///postgres?host=%s&user=pawl&pawl_schema=%s", folder(), schema);
    bench_require(size > 0 && (size_t)size < sizeof place->store_url, "PAWL_BENCH_POSTGRES is too long");
}

/* The checkpoint keeps cleaning up from disturbing the next measurement. */
void bench_postgres_place_remove(const struct bench_place *place, const char *schema)
{
    (void)place;
    drop(schema);
    bench_postgres_execute(schema, "CHECKPOINT");
}

/* ---- The raw writer ------------------------------------------------------------------------------------------------ */

/* The columns that a completed step fills.  The others are NULL. */
enum column {
    INSTANCE,
    RUN,
    SEQ,
    ATTEMPTS,
    ATTEMPTS_MAX,
    TIMEOUT,
    CREATED_AT,
    UPDATED_AT,
    KIND,
    STATUS,
    NUMBERS, /* columns before this are numbers, the rest are texts */
    NAME = NUMBERS,
    RESULT,
    COLUMNS
};

struct limit_postgres {
    PGconn *db;
    int64_t first; /* the number of its first run; differs for each connection */
    int64_t written;
    char arrays[COLUMNS][ARRAY_BYTES_MAX];
};

static const char limit_table[] =
    "CREATE SCHEMA IF NOT EXISTS " LIMIT_SCHEMA ";"
    "CREATE TABLE IF NOT EXISTS limit_step (instance bigint NOT NULL, run bigint NOT NULL, seq bigint NOT NULL,"
    " attempts bigint NOT NULL, attempts_max bigint NOT NULL, timeout bigint NOT NULL, created_at bigint NOT NULL,"
    " updated_at bigint NOT NULL, next_retry_at bigint, wake_at bigint, event_at bigint, kind smallint NOT NULL,"
    " status smallint NOT NULL, name text NOT NULL, wait_event_type text, result text, error_name text,"
    " error_message text, PRIMARY KEY (instance, run, seq));"
    "CREATE INDEX IF NOT EXISTS limit_step_waiting ON limit_step (instance, run, seq) WHERE status = 0";

static const char limit_insert[] =
    "INSERT INTO limit_step (instance, run, seq, attempts, attempts_max, timeout, created_at, updated_at, kind, status,"
    " name, result) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],"
    " $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[])";

struct limit_postgres *limit_postgres_open(void)
{
    static const char lock[] = "SELECT pg_advisory_lock(20)", unlock[] = "SELECT pg_advisory_unlock(20)";
    struct limit_postgres *limit = calloc(1, sizeof *limit);
    bench_require(limit != NULL, "out of memory");
    limit->db = open_database(LIMIT_SCHEMA);
    execute(limit->db, lock);
    execute(limit->db, limit_table);
    execute(limit->db, unlock);
    execute(limit->db, "SET plan_cache_mode TO force_generic_plan");
    PGresult *result = PQexec(limit->db, "CREATE SEQUENCE IF NOT EXISTS limit_writer; SELECT nextval('limit_writer')");
    check(limit->db, PQresultStatus(result) == PGRES_TUPLES_OK);
    limit->first = atoll(PQgetvalue(result, 0, 0)) << 32;
    PQclear(result);
    result = PQprepare(limit->db, "insert", limit_insert, 0, NULL);
    check(limit->db, PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
    return limit;
}

void limit_postgres_close(struct limit_postgres *limit)
{
    PQfinish(limit->db);
    free(limit);
}

static char *put(char *at, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *at++ = (char)(value >> (8 * i));
    return at;
}

enum { INT8_TYPE = 20, TEXT_TYPE = 25 };

/* Writes the header of an array with one dimension, no NULL, and indexes from 1. */
static char *begin_array(char *at, unsigned type, int count)
{
    at = put(put(put(at, 1, 4), 0, 4), type, 4);
    return put(put(at, (uint64_t)count, 4), 1, 4);
}

static char *put_number(char *at, int64_t value)
{
    return put(put(at, 8, 4), (uint64_t)value, 8);
}

static char *put_text(char *at, const char *text)
{
    size_t size = strlen(text);
    return (char *)memcpy(put(at, size, 4), text, size) + size;
}

/* Writes runs of ten steps, `steps` runs at a time, so that neighbouring rows of a transaction belong to different
 * runs. */
void limit_postgres_transaction(struct limit_postgres *limit, int steps)
{
    static const int binary[COLUMNS] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    const char *values[COLUMNS];
    char *ends[COLUMNS];
    int sizes[COLUMNS];
    int64_t turn = limit->written / steps;
    for (int column = 0; column < COLUMNS; column++) {
        values[column] = limit->arrays[column];
        ends[column] = begin_array(limit->arrays[column], column < NUMBERS ? INT8_TYPE : TEXT_TYPE, steps);
    }
    for (int i = 0; i < steps; i++) {
        const int64_t moment_ms = INT64_C(1767225600000) + turn;
        const int64_t row[NUMBERS] = { [INSTANCE] = limit->first + turn / 10 * steps + i,
                                       [RUN] = 1,
                                       [SEQ] = turn % 10 + 1,
                                       [ATTEMPTS] = 1,
                                       [ATTEMPTS_MAX] = 6,
                                       [TIMEOUT] = 600000,
                                       [CREATED_AT] = moment_ms,
                                       [UPDATED_AT] = moment_ms,
                                       [STATUS] = 1 };
        for (int column = 0; column < NUMBERS; column++)
            ends[column] = put_number(ends[column], row[column]);
        ends[NAME] = put_text(ends[NAME], "a step");
        ends[RESULT] = put_text(ends[RESULT], "{\"result\":\"none\"}");
    }
    limit->written += steps;
    for (int column = 0; column < COLUMNS; column++)
        sizes[column] = (int)(ends[column] - values[column]);
    PGresult *result = PQexecPrepared(limit->db, "insert", COLUMNS, values, sizes, binary, 1);
    check(limit->db, PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
}

/* ---- Its rate ------------------------------------------------------------------------------------------------------- */

struct writer {
    pthread_t thread;
    struct limit_postgres *limit;
    int steps_a_transaction;
    double until_us;
};

static void *write_steps(void *argument)
{
    struct writer *writer = argument;
    while (bench_now_us() < writer->until_us)
        limit_postgres_transaction(writer->limit, writer->steps_a_transaction);
    return NULL;
}

double limit_postgres_rate(int connections, int steps_a_transaction, double seconds)
{
    struct writer writers[CONNECTIONS_MAX];
    int64_t written = 0;
    bench_require(connections <= CONNECTIONS_MAX && steps_a_transaction <= LIMIT_POSTGRES_STEPS_MAX,
                  "that is more than the raw writer has room for");
    for (int i = 0; i < connections; i++)
        writers[i] = (struct writer){ .limit = limit_postgres_open(), .steps_a_transaction = steps_a_transaction };
    double begun_us = bench_now_us();
    for (int i = 0; i < connections; i++) {
        writers[i].until_us = begun_us + seconds * 1e6;
        bench_require(pthread_create(&writers[i].thread, NULL, write_steps, &writers[i]) == 0, "cannot start a thread");
    }
    for (int i = 0; i < connections; i++)
        pthread_join(writers[i].thread, NULL);
    double us = bench_now_us() - begun_us;
    for (int i = 0; i < connections; i++) {
        written += writers[i].limit->written;
        limit_postgres_close(writers[i].limit);
    }
    drop(LIMIT_SCHEMA);
    return (double)written * 1e6 / us;
}
