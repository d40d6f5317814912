/* run_result.c - pawl instances result; see result.h. */
#include <stdio.h>
#include <string.h>

#include "moment.h"
#include "result.h"
#include "run.h"
#include "view.h"
#include "waiting.h"

/* Shorter than any server's own limit, so that the time-out counts from what we asked for. */
enum { WAIT_MS = 20000, PAUSE_MS = 1000 };

bool result_is_awaited(const struct session *session)
{
    return session_has(session, OPTION_WAIT) || session_has(session, OPTION_WAIT_FOR);
}

static bool is_finished(const json_t *result)
{
    const char *status = json_text(result, "details.status", "");
    return strcmp(status, "complete") == 0 || strcmp(status, "errored") == 0 || strcmp(status, "terminated") == 0;
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------------- */

static enum exit_code ask(struct session *session, const struct reference *reference, int64_t wait_ms,
                          struct answer *out_answer)
{
    const char *path = pool_format(&session->pool, "%s/result?waitMs=%lld", reference_path(&session->pool, reference),
                                   (long long)wait_ms);
    return client_ask_within(session, "GET", path, NULL, wait_ms + session->settings.timeout_ms, out_answer);
}

static bool is_passing(const struct session *session)
{
    return session->problem.exit_code == EXIT_UNREACHABLE || session->problem.http_status >= 500;
}

/* Until it has finished or the time is over.  A server that goes away after it has answered once is waited for; so the
 * first time it is asked without waiting. */
static enum exit_code await(struct session *session, const struct reference *reference, int64_t until_ms,
                            struct answer *out_answer)
{
    bool was_reached = false;
    for (;;) {
        int64_t left_ms = until_ms - moment_monotonic_ms();
        int64_t wait_ms = left_ms < 0 || !was_reached ? 0 : left_ms < WAIT_MS ? left_ms : WAIT_MS;
        enum exit_code code = ask(session, reference, wait_ms, out_answer);
        if (code != EXIT_DONE && !(was_reached && is_passing(session)))
            return explain_workflow(session, code, reference->workflow);
        if (code == EXIT_DONE && (is_finished(out_answer->json) || moment_monotonic_ms() >= until_ms))
            return EXIT_DONE;
        was_reached = true;
        if (code == EXIT_DONE) {
            answer_free(out_answer);
            continue;
        }
        if (moment_monotonic_ms() >= until_ms)
            return code;
        client_tell(session, "the connection was lost");
        moment_rest_ms(PAUSE_MS);
    }
}

/* ---- Showing ----------------------------------------------------------------------------------------------------------- */

static enum exit_code tell(struct session *session, const struct reference *reference, const json_t *result)
{
    const char *name = reference_name(&session->pool, reference), *status = json_text(result, "details.status", "?");
    const json_t *output = json_at(result, "details.output");
    if (!is_finished(result))
        return problem_set(&session->problem, EXIT_NOT_FINISHED, "NOT_FINISHED",
                           "%s has not finished: it is %s%s (pawl instances why %s)", name,
                           phase_show(phase_of(json_at(result, "details"))),
                           result_is_awaited(session) ? "" : "; --wait waits for it", name);
    if (strcmp(status, "complete") != 0) {
        const char *error = error_show(&session->pool, result, "details.error");
        return problem_set(&session->problem, EXIT_RUN_FAILED, "RUN_FAILED", "%s %s%s%s", name,
                           strcmp(status, "errored") == 0 ? "failed" : "was terminated", error[0] != '\0' ? ": " : "",
                           error);
    }
    if (output != NULL)
        session_put_json(session, output);
    else if (session->screen.is_terminal)
        screen_note(&session->screen, &session->out, "complete, without an output");
    return session_print(session);
}

/* For scripts the answer says it all, and the exit code says the same. */
static enum exit_code print(struct session *session, const struct answer *answer)
{
    const json_t *result = answer->json;
    session_put_answer(session, answer);
    enum exit_code code = session_print(session);
    if (code != EXIT_DONE)
        return code;
    session->problem.text[0] = '\0';
    if (!is_finished(result))
        return EXIT_NOT_FINISHED;
    return strcmp(json_text(result, "details.status", ""), "complete") == 0 ? EXIT_DONE : EXIT_RUN_FAILED;
}

enum exit_code result_print(struct session *session, const struct reference *reference)
{
    struct answer answer;
    int64_t until_ms = 0;
    if (session_has(session, OPTION_WAIT_FOR)) {
        (void)duration_parse(session_option(session, OPTION_WAIT_FOR), &until_ms);
        until_ms += moment_monotonic_ms();
    } else if (session_has(session, OPTION_WAIT)) {
        until_ms = INT64_MAX;
    }
    session->client.patient_until_ms = until_ms;
    enum exit_code code = await(session, reference, until_ms, &answer);
    if (code != EXIT_DONE)
        return code;
    code = session_is_json(session) ? print(session, &answer) : tell(session, reference, answer.json);
    answer_free(&answer);
    return code;
}

enum exit_code run_instances_result(struct session *session)
{
    struct reference reference;
    enum exit_code code = reference_find(session, &reference);
    return code == EXIT_DONE ? result_print(session, &reference) : code;
}
