/* counting.c - see counting.h. */
#include "cost/counting.h"

#include <stdint.h>
#include <stdlib.h>

#include <sqlite3.h>

#ifdef PAWL_HAS_POSTGRES
#include "store/postgres/connection.h"
#endif

static struct {
    struct cost cost;
    size_t copy_size;
    bool is_begun, is_paused;
} counting;

void counting_begin(size_t copy_size)
{
    counting.cost = (struct cost){ 0 };
    counting.copy_size = copy_size;
    counting.is_begun = true;
}

struct cost counting_end(void)
{
    counting.is_begun = false;
    return counting.cost;
}

void counting_pause(void)
{
    counting.is_paused = true;
}

void counting_go_on(void)
{
    counting.is_paused = false;
}

static bool is_counting(void)
{
    return counting.is_begun && !counting.is_paused;
}

static void count_statement(void)
{
    counting.cost.statements += is_counting();
}

/* ---- SQLite ---------------------------------------------------------------------------------------------------------- */

/* clang-format off */
int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *user, char **text);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *user, char **text);
/* clang-format on */

/* The step that begins an execution, not those to its further rows. */
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (!sqlite3_stmt_busy(statement))
        count_statement();
    return __real_sqlite3_step(statement);
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *user,
                        char **text)
{
    count_statement();
    return __real_sqlite3_exec(db, sql, row, user, text);
}

/* ---- PostgreSQL ------------------------------------------------------------------------------------------------------ */

#ifdef PAWL_HAS_POSTGRES
/* clang-format off */
int __real_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes, const int *formats, int format);
int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes, const int *formats, int format);
int __real_PQsendQueryParams(PGconn *db, const char *sql, int count, const Oid *types, const char *const *values, const int *sizes, const int *formats, int format);
int __wrap_PQsendQueryParams(PGconn *db, const char *sql, int count, const Oid *types, const char *const *values, const int *sizes, const int *formats, int format);
int __real_PQsendPrepare(PGconn *db, const char *name, const char *sql, int count, const Oid *types);
int __wrap_PQsendPrepare(PGconn *db, const char *name, const char *sql, int count, const Oid *types);
PGresult *__real_PQexec(PGconn *db, const char *sql);
PGresult *__wrap_PQexec(PGconn *db, const char *sql);
bool __real_pw_pg_finish(struct pw_pg_connection *connection, int64_t until_ms);
bool __wrap_pw_pg_finish(struct pw_pg_connection *connection, int64_t until_ms);
bool __real_pw_pg_finish_first(struct pw_pg_connection *connection, int64_t until_ms);
bool __wrap_pw_pg_finish_first(struct pw_pg_connection *connection, int64_t until_ms);
/* clang-format on */

static void count_trip(void)
{
    counting.cost.trips += is_counting();
}

int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format)
{
    count_statement();
    return __real_PQsendQueryPrepared(db, name, count, values, sizes, formats, format);
}

int __wrap_PQsendQueryParams(PGconn *db, const char *sql, int count, const Oid *types, const char *const *values,
                             const int *sizes, const int *formats, int format)
{
    count_statement();
    return __real_PQsendQueryParams(db, sql, count, types, values, sizes, formats, format);
}

int __wrap_PQsendPrepare(PGconn *db, const char *name, const char *sql, int count, const Oid *types)
{
    count_statement();
    return __real_PQsendPrepare(db, name, sql, count, types);
}

PGresult *__wrap_PQexec(PGconn *db, const char *sql)
{
    count_statement();
    count_trip();
    return __real_PQexec(db, sql);
}

bool __wrap_pw_pg_finish(struct pw_pg_connection *connection, int64_t until_ms)
{
    count_trip();
    return __real_pw_pg_finish(connection, until_ms);
}

bool __wrap_pw_pg_finish_first(struct pw_pg_connection *connection, int64_t until_ms)
{
    if (connection->reply_count > 0)
        count_trip();
    return __real_pw_pg_finish_first(connection, until_ms);
}
#endif

/* ---- Copies ---------------------------------------------------------------------------------------------------------- */

#ifdef PAWL_TEST_COPIES
void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__wrap___memcpy_chk(void *to, const void *from, size_t size, size_t room);
void *__wrap___memmove_chk(void *to, const void *from, size_t size, size_t room);

static void count_copy(size_t size)
{
    counting.cost.copies += is_counting() && size >= counting.copy_size;
}

void *__wrap_memcpy(void *to, const void *from, size_t size)
{
    count_copy(size);
    return __real_memcpy(to, from, size);
}

void *__wrap_memmove(void *to, const void *from, size_t size)
{
    count_copy(size);
    return __real_memmove(to, from, size);
}

/* What _FORTIFY_SOURCE makes of them. */
void *__wrap___memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
    if (size > room)
        abort();
    return __wrap_memcpy(to, from, size);
}

void *__wrap___memmove_chk(void *to, const void *from, size_t size, size_t room)
{
    if (size > room)
        abort();
    return __wrap_memmove(to, from, size);
}
#endif

bool counting_sees_copies(void)
{
#ifdef PAWL_TEST_COPIES
    return true;
#else
    return false;
#endif
}
