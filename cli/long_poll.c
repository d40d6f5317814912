/* long_poll.c - see long_poll.h. */
#include "long_poll.h"

#include "common/thread.h"
#include "moment.h"

/* WAIT_MS is shorter than any server's own limit, so that the timeout counts from the wait that we asked for. */
enum { WAIT_MS = 20000, PAUSE_MS = 1000 };

int64_t long_poll_until_ms(const struct session *session, bool is_awaited)
{
    int64_t ms = 0;
    if (!session_has(session, OPTION_WAIT_FOR))
        return is_awaited ? INT64_MAX : 0;
    (void)duration_parse(session_option(session, OPTION_WAIT_FOR), &ms);
    return ms + pw_monotonic_ms();
}

static bool is_passing(const struct session *session)
{
    return session->problem.exit_code == EXIT_UNREACHABLE || session->problem.http_status >= 500;
}

/* The first request does not wait, so that a missing server is reported at once. */
enum exit_code long_poll_ask(struct session *session, const struct long_poll *poll, int64_t until_ms,
                             struct answer *out_answer)
{
    bool was_reached = false;
    session->client.patient_until_ms = until_ms;
    for (;;) {
        int64_t left_ms = until_ms - pw_monotonic_ms();
        int64_t wait_ms = left_ms < 0 || !was_reached ? 0 : left_ms < WAIT_MS ? left_ms : WAIT_MS;
        enum exit_code code = poll->ask(session, poll->user, wait_ms, out_answer);
        if (code != EXIT_DONE && !(was_reached && is_passing(session)))
            return code;
        if (code == EXIT_DONE && (poll->is_there(out_answer->json) || pw_monotonic_ms() >= until_ms))
            return EXIT_DONE;
        was_reached = true;
        if (code == EXIT_DONE)
            continue;
        if (pw_monotonic_ms() >= until_ms)
            return code;
        client_tell(session, "the connection was lost");
        moment_rest_ms(PAUSE_MS);
    }
}
