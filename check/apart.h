/* apart.h - a function in a process of its own.  It may crash, leave, or never come back: who asked lives on, and is told
 * what it was at.  The process dies with the one that asked, however that ends.  Its memory is
 * bounded, but for where a sanitizer is at work.  It can be run before any thread is
 * started, and by one thread at a time. */
#ifndef CHECK_APART_H
#define CHECK_APART_H

#include <stdbool.h>
#include <stdint.h>

/* What the process is at, in memory that both share. */
struct apart_stage;

/* A word: it is alive, and at this.  Step "": in no step's body.  Ends a process that is a copy of the right one. */
void apart_note(struct apart_stage *stage, const char *where, const char *step);

/* What it answers is the outcome's code. */
typedef int apart_fn(struct apart_stage *stage, void *user);

enum apart_end { APART_RETURNED, APART_LEFT, APART_KILLED, APART_SILENT };

struct apart_outcome {
    enum apart_end end;
    int code;                   /* what the function answered, the exit status, or the signal */
    char where[256], step[264]; /* the last word; "": there was none */
    bool came_back;             /* a copy that its code forked, and went on as if it were the process itself */
};

/* It is killed when no word comes for silence_max_ms.  False with errno set: there is no such process. */
bool apart_run(apart_fn *function, void *user, int64_t silence_max_ms, struct apart_outcome *out_outcome);

#endif
