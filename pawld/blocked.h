/* blocked.h - tells of calls of the modules' code that do not return, which the library lists and does not log. */
#ifndef PAWLD_BLOCKED_H
#define PAWLD_BLOCKED_H

#include <pawl/pawl.h>

#include "log.h"

/* What was told so far.  Zeroed is nothing. */
struct blocked {
    int64_t told; /* the number of the newest call that was */
    bool is_full; /* no new runs are taken, which was told */
};

/* To be called now and then. */
void blocked_look(struct blocked *blocked, const struct log *log, pawl_engine *engine, pawl_runner *runner);

#endif
