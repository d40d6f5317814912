/* apart.h - runs a function in a process of its own.
 *
 * The function may crash, exit or never return.  The caller survives and learns how it ended and what it was doing.
 * The process dies with its caller.  Its memory is limited, except under a sanitizer.  Call it before any thread is
 * started, from one thread at a time. */
#ifndef CHECK_APART_H
#define CHECK_APART_H

#include <stdbool.h>
#include <stdint.h>

/* What the process is doing, in memory that both processes share. */
struct apart_stage;

/* Reports that the process is alive and where it is. step is "" outside of step bodies.  If a forked copy of the
 * process calls this, the copy is ended. */
void apart_note(struct apart_stage *stage, const char *where, const char *step);

/* Its result is the outcome's code. */
typedef int apart_fn(struct apart_stage *stage, void *user);

enum apart_end { APART_RETURNED, APART_LEFT, APART_KILLED, APART_SILENT };

struct apart_outcome {
    enum apart_end end;
    int code;                   /* the function's result, the exit status or the signal */
    char where[256], step[264]; /* the last report; "": none */
    bool came_back;             /* a forked copy went on as if it were the process itself */
};

/* Kills the process if it reports nothing for silence_max_ms.  Returns false, with errno set, if no process can be
 * started. */
bool apart_run(apart_fn *function, void *user, int64_t silence_max_ms, struct apart_outcome *out_outcome);

#endif
