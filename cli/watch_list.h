/* watch_list.h - a list of instances, looked at again and again; the half of `instances watch` that names none. */
#ifndef CLI_WATCH_LIST_H
#define CLI_WATCH_LIST_H

#include "listing.h"

/* Until it is interrupted.  On a terminal the list is drawn in place, as much of it as fits; elsewhere each instance that
 * has changed is a line.  A server that goes away after it has answered once is waited for, and one whose database is away
 * from the start. */
enum exit_code watch_list(struct session *session, const struct listing *listing, int64_t interval_ms);

#endif
