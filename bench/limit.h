/* limit.h - the least that a durable step can cost on this machine: a raw SQLite writer, with nothing around it.
 *
 * A step is two rows of some 60 bytes, appended by prepared statements to two tables without an index; the settings are
 * those of the engine's own writer (write-ahead log, synchronous FULL, the same cache and checkpoints).  There is no
 * claim, no fence, no index, no name to look up: no engine that keeps history in SQLite can be faster. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include <stdint.h>

struct limit;

/* Creates the file.  Ends the program when it cannot. */
struct limit *limit_open(const char *path);
void limit_close(struct limit *limit);

/* A write-ahead log is cheaper to write to once it has its full size, which is how long-lived stores have it. */
void limit_warm_up(struct limit *limit);

/* One transaction of so many steps. */
void limit_transaction(struct limit *limit, int64_t steps);

/* Opens the file anew, warms up, writes the steps, so many in each transaction; answers steps per second and removes the
 * file. */
double limit_rate(const char *path, int64_t steps, int64_t steps_a_transaction);

#endif
