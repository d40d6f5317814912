/* run_logs.c - pawl instances logs. */
#include <stdio.h>
#include <string.h>

#include "history.h"
#include "moment.h"
#include "run.h"
#include "stream.h"

struct follower {
    struct session *session;
    struct history_query query; /* which lines are wanted */
    enum exit_code code;
};

static bool is_wanted(const struct history_query *query, const json_t *log)
{
    return (query->log_level == NULL || json_is(log, "level", query->log_level)) &&
           !(query->no_replay && json_flag(log, "isReplay")) &&
           (query->log_category == NULL || json_is(log, "category", query->log_category));
}

static void put_log(struct session *session, const json_t *log)
{
    if (session_is_json(session))
        session_put_line(session, log);
    else
        log_print(session, &session->out, log);
}

static bool take_event(void *user, const char *event, const json_t *data)
{
    struct follower *follower = user;
    if (strcmp(event, "log") != 0 || !is_wanted(&follower->query, data))
        return true;
    screen_refresh(&follower->session->screen);
    put_log(follower->session, data);
    follower->code = session_print(follower->session);
    return follower->code == EXIT_DONE;
}

static enum exit_code follow_logs(struct session *session, const struct reference *reference)
{
    struct follower follower = { session, history_query_read(session), EXIT_DONE };
    const struct stream_handler handler = { .event = take_event, .user = &follower };
    TRY(stream_follow(session, reference, &handler));
    return follower.code;
}

static enum exit_code print_logs(struct session *session, const struct reference *reference)
{
    struct history_query query = history_query_read(session);
    json_t *history = NULL;
    query.with_logs = true;
    TRY(history_fetch(session, reference, &query, &history));
    const json_t *logs = json_at(history, "logs");
    json_each(log, logs)
        put_log(session, log.value);
    if (json_array_size(logs) == 0 && session->screen.is_terminal && !session_is_json(session))
        pw_buffer_put(&session->out, "no log lines\n");
    return session_print(session);
}

enum exit_code run_instances_logs(struct session *session)
{
    struct reference reference;
    bool is_followed = session_has(session, OPTION_FOLLOW);
    if (is_followed && session_has(session, OPTION_RUN))
        return problem_use(&session->problem, "--follow is of the current run; --run is of one that is named");
    session->client.patient_until_ms = is_followed ? INT64_MAX : 0;
    TRY(reference_find(session, &reference));
    return is_followed ? follow_logs(session, &reference) : print_logs(session, &reference);
}
