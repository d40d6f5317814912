/* patience.h - says that something is waited for, once it takes longer than a moment. */
#ifndef PAWLD_PATIENCE_H
#define PAWLD_PATIENCE_H

#include "common/thread.h"
#include "log.h"

struct patience {
    const struct log *log;
    char text[512];
    struct pw_helper helper;
    bool is_open; /* there was a lock to be had */
};

/* The line is a warning; it is written by a thread, a second from now.  Where that thread cannot be had, nothing is
 * said. */
void patience_begin(struct patience *patience, const struct log *log, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Nothing is said afterwards. */
void patience_end(struct patience *patience);

#endif
