/* long_poll.h - repeats a request until it has the wanted answer, or until the time of --wait and --for is over. */
#ifndef CLI_LONG_POLL_H
#define CLI_LONG_POLL_H

#include "session.h"

struct long_poll {
    /* Sends the request once.  The server may hold back its answer for wait_ms. */
    enum exit_code (*ask)(struct session *session, void *user, int64_t wait_ms, struct answer *out_answer);
    bool (*is_there)(const json_t *answer); /* false: ask again */
    void *user;
};

/* The end of the wait, by pw_monotonic_ms(): from --for; else never if is_awaited; else 0. */
int64_t long_poll_until_ms(const struct session *session, bool is_awaited);

/* Returns the last answer, wanted or not.  If the server goes away after it has answered once, this waits for it. */
enum exit_code long_poll_ask(struct session *session, const struct long_poll *poll, int64_t until_ms,
                             struct answer *out_answer);

#endif
