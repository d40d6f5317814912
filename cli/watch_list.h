/* watch_list.h - `instances watch` without an instance: fetches the list again and again. */
#ifndef CLI_WATCH_LIST_H
#define CLI_WATCH_LIST_H

#include "listing.h"

/* Runs until it is interrupted.  On a terminal the list is drawn in place, as much of it as fits; elsewhere each instance
 * that has changed is a line.  Waits for a server that goes away after it has answered once, and for one whose database is
 * not available at the start. */
enum exit_code watch_list(struct session *session, const struct listing *listing, int64_t interval_ms);

#endif
