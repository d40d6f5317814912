/* process.h - runs a program to its end: bytes in, bytes out, and nothing of it left behind.
 *
 * The program is the leader of a process group of its own.  The whole group is killed when the program ends, when it is no
 * longer wanted, when it writes too much, and when this process ends, by kill -9 as well.  What left the group (setsid,
 * setpgid) is not killed.  The calling thread waits. */
#ifndef PW_BASE_PROCESS_H
#define PW_BASE_PROCESS_H

#include <stdbool.h>

#include "common/text.h"

enum { PW_COMPLAINTS_MAX = 2000 };

struct pw_process {
    const char *const
        *arguments; /* the program, as a path or a name to look up in PATH, and its arguments; ends with NULL */
    const char *const *environment; /* complete; ends with NULL */
    const char *directory;          /* or NULL: ours */
    struct pw_text input;           /* its standard input */
    size_t output_max;
    bool (*is_wanted)(void *user); /* asked many times a second */
    void *user;
};

enum pw_process_end {
    PW_PROCESS_EXITED,      /* number: its exit code */
    PW_PROCESS_SIGNALLED,   /* number: the signal */
    PW_PROCESS_UNWANTED,    /* killed, because is_wanted() said no */
    PW_PROCESS_OVERFLOWED,  /* killed, because it wrote more than output_max */
    PW_PROCESS_NOT_STARTED, /* number: an errno */
    PW_PROCESS_UNKNOWN      /* it has ended, but somebody else in this process took its status away */
};

struct pw_process_outcome {
    enum pw_process_end end;
    int number;
    char *output; /* NUL-terminated, malloc'd; NULL: nothing */
    size_t output_size;
    char
        complaints[PW_COMPLAINTS_MAX + 1]; /* the last of what it wrote as errors; UTF-8, no control characters but line
                                               ends and tabs */
};

/* False: memory is out, and the program is not running. */
bool pw_process_run(const struct pw_process *process, struct pw_process_outcome *out_outcome);
void pw_process_outcome_clear(struct pw_process_outcome *outcome);

#endif
