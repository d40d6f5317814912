/* postgres.h - the PostgreSQL of the benchmarks: where an engine's store is in it, and the least that a durable step can
 * cost there.
 *
 * tools/bench starts the server, with fsync, and says in PAWL_BENCH_POSTGRES in which folder its socket is.
 *
 * The raw writer has a table with the columns and indexes of the engine's steps.  Whatever number of steps it writes in a
 * transaction, they are arrays in binary form and one prepared statement, which is one round trip.  There is no claim, no
 * fence, no name to look up, no second table. */
#ifndef BENCH_POSTGRES_H
#define BENCH_POSTGRES_H

#include "bench.h"

/* A schema for one measurement.  Only store_url is filled in. */
void bench_postgres_place_make(struct bench_place *place, const char *schema);
void bench_postgres_place_remove(const struct bench_place *place, const char *schema);
/* Statements by hand, with that schema for a search path. */
void bench_postgres_execute(const char *schema, const char *sql);

struct limit_postgres;

/* One connection.  The first to come makes the table. */
struct limit_postgres *limit_postgres_open(void);
void limit_postgres_close(struct limit_postgres *limit);
/* One transaction, durable when this returns; up to LIMIT_POSTGRES_STEPS_MAX. */
enum { LIMIT_POSTGRES_STEPS_MAX = 256 };
void limit_postgres_transaction(struct limit_postgres *limit, int steps);

/* Steps a second, by connections that write for so long, each on a thread of its own. */
double limit_postgres_rate(int connections, int steps_a_transaction, double seconds);

#endif
