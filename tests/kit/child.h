/* child.h - processes that a test starts, watches, kills and waits for. */
#ifndef TESTS_KIT_CHILD_H
#define TESTS_KIT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Forks a process that calls become(), which should not return: if it does, the process exits with 1.  Never fails. */
pid_t child_start(void (*become)(void *user), void *user);

/* Waits for the process to end, without a time limit.  Returns its exit code, or 128 plus the number of the signal
 * that killed it, and sets *process to 0. */
int child_await(pid_t *process);
/* The same without waiting.  Returns false if it still runs. */
bool child_has_ended(pid_t *process, int *out_code);
/* Kills the process with SIGKILL and waits for it.  Returns as child_await() does.  Does nothing if *process is 0. */
int child_kill(pid_t *process);

/* Call it in a process that a test started.  Sets standard input (unless it is -1), output and error, and executes
 * the program with the arguments, which end with NULL. */
void child_become(const char *program, const char *const *arguments, int input, int output, int errors);

/* Appends to the text what a nonblocking descriptor has at this moment, as far as there is room. */
void child_read(int from, char *text, size_t room);
int child_count(const char *text, const char *wanted);

/* ---- Chance that can be repeated ---------------------------------------------------------------------------------------- */

/* Returns PAWL_TEST_SEED, or a different seed each time, and prints it. */
unsigned child_seed(void);
unsigned child_draw(unsigned *seed, unsigned below);

#endif
