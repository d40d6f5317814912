/* postgres.h - PostgreSQL for the benchmarks: a store for the engine, and the least that a durable step can cost
 * there.
 *
 * tools/bench starts the server, with fsync, and passes the folder of its socket in PAWL_BENCH_POSTGRES.
 *
 * The raw writer has a table like that of the engine's steps.  It writes all steps of a transaction as arrays in
 * binary form with one prepared statement, which takes one round trip.  There is no claim, no fence, no name to look
 * up and no second table. */
#ifndef BENCH_POSTGRES_H
#define BENCH_POSTGRES_H

#include "bench.h"

/* A schema for one measurement.  Fills in only store_url. */
void bench_postgres_place_make(struct bench_place *place, const char *schema);
void bench_postgres_place_remove(const struct bench_place *place, const char *schema);
/* Executes SQL with that schema as the search path. */
void bench_postgres_execute(const char *schema, const char *sql);

struct limit_postgres;

/* Opens one connection.  The first one makes the table. */
struct limit_postgres *limit_postgres_open(void);
void limit_postgres_close(struct limit_postgres *limit);
/* Writes one transaction of up to LIMIT_POSTGRES_STEPS_MAX steps, which is durable when this returns. */
enum { LIMIT_POSTGRES_STEPS_MAX = 256 };
void limit_postgres_transaction(struct limit_postgres *limit, int steps);

/* Returns steps per second of `connections` connections that write for `seconds`, each in a thread of its own. */
double limit_postgres_rate(int connections, int steps_a_transaction, double seconds);

#endif
