/* history.h - a run's steps, events and log lines, gathered page by page. */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "reference.h"

struct history_query {
    int64_t run;       /* 0: the current one */
    const char *order; /* NULL: as the server does it */
    bool with_logs, no_replay;
    const char *log_level, *log_category; /* or NULL */
    int64_t limit;                        /* only the first page, with so many of each; 0: all pages */
};

/* What the options of the command line say of it. */
struct history_query history_query_read(const struct session *session);

/* {runNumber, steps, events, logs?, stepsHasNextPage, ...} as the API answers it, but whole; in the session's pool. */
enum exit_code history_fetch(struct session *session, const struct reference *reference,
                             const struct history_query *query, json_t **out_history);

/* A line of a log, with a line end. */
void log_print(struct session *session, struct pw_buffer *out, const json_t *log);

#endif
