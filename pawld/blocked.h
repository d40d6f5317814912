/* blocked.h - logs calls of the modules' code that do not return.  The library lists such calls but logs nothing. */
#ifndef PAWLD_BLOCKED_H
#define PAWLD_BLOCKED_H

#include <pawl/pawl.h>

#include "log.h"

/* What was logged so far.  All zero at first. */
struct blocked {
    int64_t told; /* the number of the newest call that was logged */
    bool is_full; /* "no new runs are taken" was logged */
};

/* Call it about once a second. */
void blocked_look(struct blocked *blocked, const struct log *log, pawl_engine *engine, pawl_runner *runner);

#endif
