/* pq.c - a connection to PostgreSQL that fails as planned.  The linker sends the store's calls of libpq here; what strikes
 * cuts the socket itself, so that libpq finds out in its own way. */
#include <libpq-fe.h>
#include <sys/socket.h>

#include "plan.h"

PGconn *__real_PQconnectStartParams(const char *const *names, const char *const *values, int expand);
int __real_PQsendPrepare(PGconn *db, const char *name, const char *query, int count, const Oid *types);
int __real_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format);
int __real_PQpipelineSync(PGconn *db);
int __real_PQflush(PGconn *db);
int __real_PQconsumeInput(PGconn *db);
PGconn *__wrap_PQconnectStartParams(const char *const *names, const char *const *values, int expand);
int __wrap_PQsendPrepare(PGconn *db, const char *name, const char *query, int count, const Oid *types);
int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format);
int __wrap_PQpipelineSync(PGconn *db);
int __wrap_PQflush(PGconn *db);
int __wrap_PQconsumeInput(PGconn *db);

static void cut(PGconn *db, int how)
{
    if (PQsocket(db) >= 0)
        (void)shutdown(PQsocket(db), how);
}

PGconn *__wrap_PQconnectStartParams(const char *const *names, const char *const *values, int expand)
{
    PGconn *db = __real_PQconnectStartParams(names, values, expand);
    if (db != NULL && fault_strikes(FAULT_PQ_CONNECT))
        cut(db, SHUT_RDWR);
    return db;
}

/* As libpq itself does when it has no memory. */
int __wrap_PQsendPrepare(PGconn *db, const char *name, const char *query, int count, const Oid *types)
{
    return fault_strikes(FAULT_PQ_SEND) ? 0 : __real_PQsendPrepare(db, name, query, count, types);
}

int __wrap_PQsendQueryPrepared(PGconn *db, const char *name, int count, const char *const *values, const int *sizes,
                               const int *formats, int format)
{
    return fault_strikes(FAULT_PQ_SEND) ? 0
                                        : __real_PQsendQueryPrepared(db, name, count, values, sizes, formats, format);
}

int __wrap_PQpipelineSync(PGconn *db)
{
    return fault_strikes(FAULT_PQ_SEND) ? 0 : __real_PQpipelineSync(db);
}

/* Behind it the server has what was sent, and may carry it out; we do not hear of it. */
int __wrap_PQflush(PGconn *db)
{
    if (fault_strikes(FAULT_PQ_CUT_BEFORE))
        cut(db, SHUT_RDWR);
    int left = __real_PQflush(db);
    if (fault_strikes(FAULT_PQ_CUT_AFTER))
        cut(db, SHUT_RD);
    return left;
}

int __wrap_PQconsumeInput(PGconn *db)
{
    if (fault_strikes(FAULT_PQ_READ))
        cut(db, SHUT_RDWR);
    return __real_PQconsumeInput(db);
}
