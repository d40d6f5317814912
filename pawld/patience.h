/* patience.h - logs that something is waited for, once it takes longer than a second. */
#ifndef PAWLD_PATIENCE_H
#define PAWLD_PATIENCE_H

#include "common/thread.h"
#include "log.h"

struct patience {
    const struct log *log;
    char text[512];
    struct pw_helper helper;
    bool is_open; /* the helper was initialized */
};

/* A thread logs the line as a warning in a second.  If the thread cannot be started, nothing is logged. */
void patience_begin(struct patience *patience, const struct log *log, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Nothing is logged after this. */
void patience_end(struct patience *patience);

#endif
