/* history.h - fetches a run's steps, events and log lines, page by page. */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "reference.h"

struct history_query {
    int64_t run;       /* 0: the current one */
    const char *order; /* NULL: the server's default */
    bool with_logs, no_replay;
    const char *log_level, *log_category; /* or NULL */
    int64_t limit;                        /* only the first page, with this many of each kind; 0: all pages */
};

/* Reads the query from the options of the command line. */
struct history_query history_query_read(const struct session *session);

/* {runNumber, steps, events, logs?, stepsHasNextPage, ...} like the API's answer, with all pages joined.  In the session's
 * pool. */
enum exit_code history_fetch(struct session *session, const struct reference *reference,
                             const struct history_query *query, json_t **out_history);

/* Appends a log line, with a line end. */
void log_print(struct session *session, struct pw_buffer *out, const json_t *log);

#endif
