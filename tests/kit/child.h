/* child.h - processes that a test starts, watches, kills and waits for. */
#ifndef TESTS_KIT_CHILD_H
#define TESTS_KIT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A process that becomes this; where that comes back, it ends with 1.  Never fails. */
pid_t child_start(void (*become)(void *user), void *user);

/* Wait for its end, which takes as long as it takes.  Returns its exit code, or 128 and the number of the signal that killed it;
 * *process is 0 then. */
int child_await(pid_t *process);
/* The same at once: false if it still runs. */
bool child_has_ended(pid_t *process, int *out_code);
/* With SIGKILL, and waits.  Returns as child_await() does; one that is 0 is left alone. */
int child_kill(pid_t *process);

/* In the process that a test started: standard input (unless it is -1), output and error are these, and the program is this
 * one, with these arguments up to a NULL. */
void child_become(const char *program, const char *const *arguments, int input, int output, int errors);

/* Adds what a descriptor that does not block has at this moment to the text, as far as there is room. */
void child_read(int from, char *text, size_t room);
int child_count(const char *text, const char *wanted);

/* ---- Chance that can be repeated ---------------------------------------------------------------------------------------- */

/* From PAWL_TEST_SEED, or another one each time, and says which. */
unsigned child_seed(void);
unsigned child_draw(unsigned *seed, unsigned below);

#endif
