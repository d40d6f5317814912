/* long_poll.h - asks the server again and again until it has the answer, or the time that --wait and --for give is over. */
#ifndef CLI_LONG_POLL_H
#define CLI_LONG_POLL_H

#include "session.h"

struct long_poll {
    /* Asks once; the server may hold the answer back for so long. */
    enum exit_code (*ask)(struct session *session, void *user, int64_t wait_ms, struct answer *out_answer);
    bool (*is_there)(const json_t *answer); /* else it is asked for again */
    void *user;
};

/* Until when, by pw_monotonic_ms(): what --for says, else forever where is_awaited, else 0. */
int64_t long_poll_until_ms(const struct session *session, bool is_awaited);

/* The last answer, whether it is there or not, is the caller's.  A server that goes away after it has answered once is
 * waited for. */
enum exit_code long_poll_ask(struct session *session, const struct long_poll *poll, int64_t until_ms,
                             struct answer *out_answer);

#endif
