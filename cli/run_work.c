/* run_work.c - pawl jobs claim, heartbeat, complete, fail; pawl deferred succeed, fail: what others finish for a run, done
 * by hand or by a script. */
#include <string.h>

#include "awaiting.h"
#include "json_input.h"
#include "moment.h"
#include "reference.h"
#include "run.h"
#include "table.h"

enum { FUNCTIONS_MAX = 64, LEASE_MS_MIN = 1000, LEASE_MS_MAX = 60 * 60 * 1000 };

/* ---- What is said about both ------------------------------------------------------------------------------------------- */

/* The token of the argument, or of the line of standard input that - stands for. */
static enum exit_code read_token(struct session *session, const char **out_token)
{
    struct words words;
    enum exit_code code = words_read(session, &words);
    if (code != EXIT_DONE)
        return code;
    if (words.count != 1)
        return problem_use(&session->problem, "standard input has %s, not one",
                           counted(&session->pool, (int64_t)words.count, "line"));
    for (const char *at = words.items[0]; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~' || strchr("/?#%", *at) != NULL)
            return problem_use(&session->problem, "this is not a token: it has a character that no token has");
    *out_token = words.items[0];
    return EXIT_DONE;
}

/* ",\"leaseMs\":30000", or "" when --lease is not given. */
static enum exit_code read_lease(struct session *session, const char **out_member)
{
    int64_t ms = 0;
    *out_member = "";
    if (!session_has(session, OPTION_LEASE))
        return EXIT_DONE;
    (void)duration_parse(session_option(session, OPTION_LEASE), &ms);
    if (ms < LEASE_MS_MIN || ms > LEASE_MS_MAX)
        return problem_use(&session->problem, "--lease is 1s to 1h, not \"%s\"", session_option(session, OPTION_LEASE));
    *out_member = pool_format(&session->pool, ",\"leaseMs\":%lld", (long long)ms);
    return EXIT_DONE;
}

/* {"result": ...}; without one {}, which is "no result". */
static enum exit_code compose_result(struct session *session, const char **out_body)
{
    const char *result;
    *out_body = "{}";
    if (!session_has(session, OPTION_RESULT))
        return EXIT_DONE;
    enum exit_code code =
        json_input_read(&session->pool, &session->problem, "--result", session_option(session, OPTION_RESULT), &result);
    if (code == EXIT_DONE)
        *out_body = pool_format(&session->pool, "{\"result\":%s}", result);
    return code;
}

static enum exit_code compose_failure(struct session *session, const char **out_body)
{
    const char *name, *message = session_option(session, OPTION_MESSAGE), *message_part = "";
    enum exit_code code =
        json_input_quote(&session->pool, &session->problem, "--name", session_option(session, OPTION_NAME), &name);
    if (code == EXIT_DONE && message != NULL) {
        code = json_input_quote(&session->pool, &session->problem, "--message", message, &message);
        message_part = pool_format(&session->pool, ",\"message\":%s", message);
    }
    if (code == EXIT_DONE)
        *out_body = pool_format(&session->pool, "{\"name\":%s%s%s}", name, message_part,
                                session_has(session, OPTION_NO_RETRY) ? ",\"retry\":false" : "");
    return code;
}

typedef enum exit_code compose_fn(struct session *session, const char **out_body);

/* Tells how it ended: by the route behind the token's; `said` is printed when that was taken, and then what the run does. */
static enum exit_code settle(struct session *session, const char *collection, const char *route, compose_fn *compose,
                             const char *said, const char *then)
{
    struct answer answer;
    const char *token = NULL, *body = NULL;
    enum exit_code code = words_check(session);
    if (code == EXIT_DONE)
        code = compose(session, &body);
    if (code == EXIT_DONE)
        code = read_token(session, &token);
    if (code != EXIT_DONE)
        return code;
    const char *path = pool_format(&session->pool, "%s/%s/%s", collection, path_segment(&session->pool, token), route);
    code = client_ask(session, "POST", path, body, &answer);
    if (code != EXIT_DONE)
        return code;
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        text_format(&session->out, "%s%s\n", said,
                    json_flag(answer.json, "paused") ? "; its run is paused, and goes on when it is resumed" : then);
    answer_free(&answer);
    return session_print(session);
}

/* ---- Deferreds --------------------------------------------------------------------------------------------------------- */

enum exit_code run_deferred_succeed(struct session *session)
{
    return settle(session, "/deferred", "succeed", compose_result, "the deferred has succeeded", "; its run goes on");
}

enum exit_code run_deferred_fail(struct session *session)
{
    return settle(session, "/deferred", "fail", compose_failure, "the deferred has failed", "; its run goes on");
}

/* ---- Jobs that are claimed --------------------------------------------------------------------------------------------- */

enum exit_code run_jobs_complete(struct session *session)
{
    return settle(session, "/jobs", "complete", compose_result, "the job is complete", "; its run goes on");
}

enum exit_code run_jobs_fail(struct session *session)
{
    bool is_last = session_has(session, OPTION_NO_RETRY);
    return settle(session, "/jobs", "fail", compose_failure,
                  is_last ? "the job has failed, for good" : "the job has failed",
                  is_last ? "" : "; it is tried again if its step says so");
}

static const char *show_lease(struct session *session, const json_t *value)
{
    int64_t until_ms = json_time_ms(value, "leasedUntil"), now_ms = session->screen.now_ms;
    return pool_format(&session->pool, "until %s, %s", moment_show(&session->pool, until_ms, now_ms),
                       moment_relative(&session->pool, until_ms, now_ms));
}

enum exit_code run_jobs_heartbeat(struct session *session)
{
    struct answer answer;
    const char *token = NULL, *lease = "";
    enum exit_code code = read_lease(session, &lease);
    if (code == EXIT_DONE)
        code = read_token(session, &token);
    if (code != EXIT_DONE)
        return code;
    code = client_ask(session, "POST",
                      pool_format(&session->pool, "/jobs/%s/heartbeat", path_segment(&session->pool, token)),
                      pool_format(&session->pool, "{%s}", lease[0] == ',' ? lease + 1 : lease), &answer);
    if (code != EXIT_DONE)
        return code;
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        text_format(&session->out, "the job is yours %s\n", show_lease(session, answer.json));
    answer_free(&answer);
    return session_print(session);
}

/* ---- Claims ------------------------------------------------------------------------------------------------------------ */

static bool is_function_name(const char *text)
{
    size_t size = strlen(text);
    return size >= 1 && size <= 63 && text[0] != '-' && text[0] != '.' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == size;
}

/* All of the claim but how long it may wait, without the brace at its end. */
static enum exit_code compose_claim(struct session *session, const char **out_body)
{
    const struct invocation *invocation = &session->invocation;
    const char *names = "", *lease, *most = session_option(session, OPTION_MAX_JOBS);
    enum exit_code code = read_lease(session, &lease);
    if (code != EXIT_DONE)
        return code;
    if (invocation->argument_count > FUNCTIONS_MAX)
        return problem_use(&session->problem, "a claim names at most %d functions", FUNCTIONS_MAX);
    for (size_t i = 0; i < invocation->argument_count; i++) {
        const char *name = invocation->arguments[i];
        if (!is_function_name(name))
            return problem_use(&session->problem,
                               "\"%s\" is not a function's name, which is 1 to 63 of a-z A-Z 0-9 . _ -, not starting "
                               "with - or a dot",
                               name);
        names = pool_format(&session->pool, "%s%s\"%s\"", names, i > 0 ? "," : "", name);
    }
    *out_body = pool_format(&session->pool, "{\"functions\":[%s]%s%s%s", names, lease, most != NULL ? ",\"max\":" : "",
                            most != NULL ? most : "");
    return EXIT_DONE;
}

static enum exit_code ask_for_jobs(struct session *session, void *user, int64_t wait_ms, struct answer *out_answer)
{
    const char *const *body = user;
    return client_ask_within(session, "POST", "/jobs/claim",
                             pool_format(&session->pool, "%s,\"waitMs\":%lld}", *body, (long long)wait_ms),
                             wait_ms + session->settings.timeout_ms, out_answer);
}

static bool has_jobs(const json_t *answer)
{
    return json_array_size(json_at(answer, "jobs")) > 0;
}

static void show_job(struct session *session, const json_t *job)
{
    struct pool *pool = &session->pool;
    const json_t *data = json_at(job, "data");
    int64_t deadline_ms = json_time_ms(job, "deadlineAt"), now_ms = session->screen.now_ms;
    struct table table;
    table_init_facts(&table);
    table_fact(&table, "token", json_text(job, "token", "?"));
    table_fact(&table, "function", json_text(job, "function", "?"));
    table_fact(&table, "for",
               pool_format(pool, "%s/%s, run %lld, step \"%s\", attempt %lld", json_text(job, "workflowName", "?"),
                           json_text(job, "instanceId", "?"), (long long)json_number(job, "runNumber", 1),
                           json_text(job, "step", "?"), (long long)json_number(job, "attempt", 1)));
    if (data != NULL)
        table_fact(&table, "data", json_show(pool, data));
    table_fact(&table, "leased", show_lease(session, job));
    if (deadline_ms != 0)
        table_fact(&table, "deadline",
                   pool_format(pool, "%s, %s", moment_show(pool, deadline_ms, now_ms),
                               moment_relative(pool, deadline_ms, now_ms)));
    table_print(&table, &session->screen, &session->out);
    table_free(&table);
}

static void show_jobs(struct session *session, const json_t *jobs)
{
    size_t index;
    json_t *job;
    json_array_foreach(jobs, index, job) {
        if (session_is_ids(session)) {
            text_format(&session->out, "%s\n", safe(&session->pool, json_text(job, "token", "")));
            continue;
        }
        text_put(&session->out, index > 0 ? "\n" : "");
        show_job(session, job);
    }
}

enum exit_code run_jobs_claim(struct session *session)
{
    struct answer answer;
    const char *body = NULL;
    enum exit_code code = compose_claim(session, &body);
    if (code != EXIT_DONE)
        return code;
    int64_t until_ms = awaiting_until_ms(session, session_has(session, OPTION_WAIT_JOB));
    code = awaiting_ask(session, &(struct awaited){ ask_for_jobs, has_jobs, &body }, until_ms, &answer);
    if (code != EXIT_DONE)
        return code;
    bool is_empty = !has_jobs(answer.json);
    screen_refresh(&session->screen); /* it may have taken its time */
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        show_jobs(session, json_at(answer.json, "jobs"));
    answer_free(&answer);
    code = session_print(session);
    if (code != EXIT_DONE || !is_empty)
        return code;
    (void)problem_set(&session->problem, EXIT_NOT_FINISHED, "NO_JOB", "there is no job to claim%s",
                      until_ms == 0 ? "; --wait waits for one" : "");
    if (session_is_json(session))
        session->problem.text[0] = '\0'; /* the answer says it */
    return EXIT_NOT_FINISHED;
}
