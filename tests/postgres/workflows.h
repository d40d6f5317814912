/* workflows.h - the workflow that the tests of trouble run in many processes at once, and what it must have left behind.
 *
 * "busy" has plain steps, one that fails twice before it succeeds, one that fails for good, a sleep, an event and
 * parallel branches.  Every body that begins is a line in a file (O_APPEND, so that nothing is lost however the process
 * ends).  Every step that ends is a row in the table app_done, written in the transaction that records the step.
 *
 * "timed" uses time in all ways and returns what its process takes for the time; "crossed" adds 1 to both rows of
 * app_account, in either order; "slow" has SQL that takes half a second; the body of "held" lasts until there is a
 * file named like the log, with BUSY_GATE behind it. */
#ifndef TESTS_POSTGRES_WORKFLOWS_H
#define TESTS_POSTGRES_WORKFLOWS_H

#include <stdint.h>

#include "pawl/pawl.h"

/* The steps with a body, by number. */
enum busy_step {
    BUSY_FIRST,
    BUSY_FLAKY,  /* succeeds at its last attempt */
    BUSY_LEFT,   /* three branches */
    BUSY_MIDDLE, /* behind a sleep */
    BUSY_RIGHT,  /* behind the event */
    BUSY_DOOMED, /* fails at every attempt */
    BUSY_LAST,
    BUSY_STEPS
};
const char *busy_step_name(enum busy_step step);
int64_t busy_step_attempts(enum busy_step step); /* that it takes, and may take */

/* What an instance with params {"n": n, "nap": ms} returns when it got the event "go" with the payload n. */
int64_t busy_result(int64_t n);

/* Made in the database before the first run. */
extern const char busy_tables[];

/* Where the bodies write that they begin: a file named by this variable of the environment. */
#define BUSY_LOG "PAWL_TEST_BODIES"
#define BUSY_GATE ".gate"

/* The workflows, to be registered in a program, or loaded by pawld. */
PAWL_MODULE_EXPORT const struct pawl_module pawl_module;

#endif
