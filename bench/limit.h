/* limit.h - the least that a durable step can cost on this machine: a bare SQLite writer.
 *
 * A step is two rows of about 60 bytes, appended with prepared statements to two tables without an index.  The
 * settings are those of the engine's own writer: write-ahead log, synchronous FULL, the same cache and checkpoints.
 * There is no claim, no fence, no index and no name to look up, so no engine that keeps its history in SQLite can
 * be faster. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include <stdint.h>

struct limit;

/* Creates the file.  Ends the program if it cannot. */
struct limit *limit_open(const char *path);
void limit_close(struct limit *limit);

/* Lets the write-ahead log grow to its full size, as in long-lived stores, because writing to it is cheaper then. */
void limit_warm_up(struct limit *limit);

/* Writes `steps` steps in one transaction. */
void limit_transaction(struct limit *limit, int64_t steps);

/* Opens a new file, warms up and writes the steps, steps_a_transaction at a time.  Returns steps per second and
 * removes the file. */
double limit_rate(const char *path, int64_t steps, int64_t steps_a_transaction);

#endif
