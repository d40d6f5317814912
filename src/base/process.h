/* process.h - runs a program to its end, with bytes in and bytes out, and leaves nothing of it behind.
 *
 * The program leads a process group of its own.  The whole group is killed when the program ends, when it is no
 * longer wanted, when it writes too much, and when this process ends, even by kill -9.  Processes that left the
 * group (setsid, setpgid) are not killed.  The calling thread waits. */
#ifndef PW_BASE_PROCESS_H
#define PW_BASE_PROCESS_H

#include <stdbool.h>

#include "common/text.h"

enum { PW_COMPLAINTS_MAX = 2000 };

struct pw_process {
    const char *const *arguments;   /* the program, as a path or a name in PATH, and its arguments; ends with NULL */
    const char *const *environment; /* complete; ends with NULL */
    const char *directory;          /* or NULL: this process's */
    struct pw_text input;           /* its standard input */
    size_t output_max;
    bool (*is_wanted)(void *user); /* called many times a second */
    void *user;
};

enum pw_process_end {
    PW_PROCESS_EXITED,      /* number: its exit code */
    PW_PROCESS_SIGNALLED,   /* number: the signal */
    PW_PROCESS_UNWANTED,    /* killed, because is_wanted() returned false */
    PW_PROCESS_OVERFLOWED,  /* killed, because it wrote more than output_max */
    PW_PROCESS_NOT_STARTED, /* number: an errno */
    PW_PROCESS_UNKNOWN      /* it has ended, but something else in this process collected its status */
};

struct pw_process_outcome {
    enum pw_process_end end;
    int number;
    char *output; /* NUL-terminated, malloc'd; NULL: nothing */
    size_t output_size;
    /* The end of its standard error: UTF-8, without control characters except line ends and tabs. */
    char complaints[PW_COMPLAINTS_MAX + 1];
};

/* False: memory is out, and the program is not running. */
bool pw_process_run(const struct pw_process *process, struct pw_process_outcome *out_outcome);
void pw_process_outcome_clear(struct pw_process_outcome *outcome);

#endif
