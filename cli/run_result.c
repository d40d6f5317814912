/* run_result.c - pawl instances result; see result.h. */
#include <stdio.h>
#include <string.h>

#include "long_poll.h"
#include "result.h"
#include "run.h"
#include "view.h"
#include "reason.h"

enum { KEY_SIZE_MAX = 1024 };

bool result_is_awaited(const struct session *session)
{
    bool is_by_itself = command_takes(session->invocation.command, OPTION_DISCARD); /* an execution */
    return session_has(session, OPTION_WAIT) || session_has(session, OPTION_WAIT_FOR) ||
           (is_by_itself && !session_has(session, OPTION_DISCARD));
}

static bool is_finished(const json_t *result)
{
    return has_finished(json_at(result, "details"));
}

/* ---- Waiting ----------------------------------------------------------------------------------------------------------- */

static enum exit_code ask(struct session *session, void *user, int64_t wait_ms, struct answer *out_answer)
{
    const struct reference *reference = user;
    const char *path = pool_format(&session->pool, "%s/result?waitMs=%lld", reference_path(&session->pool, reference),
                                   (long long)wait_ms);
    return client_ask_within(session, "GET", path, NULL, wait_ms + session->settings.timeout_ms, out_answer);
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

/* Prints the answer as JSON; the exit code follows from its status. */
static enum exit_code print(struct session *session, const struct answer *answer)
{
    const json_t *result = answer->json;
    session_put_answer(session, answer);
    TRY(session_print(session));
    session->problem.text[0] = '\0';
    if (!is_finished(result))
        return EXIT_NOT_FINISHED;
    return json_is(result, "details.status", "complete") ? EXIT_DONE : EXIT_RUN_FAILED;
}

enum exit_code result_print(struct session *session, const struct reference *reference)
{
    struct answer answer;
    struct reference asked = *reference;
    int64_t until_ms = long_poll_until_ms(session, result_is_awaited(session));
    TRY(long_poll_ask(session, &(struct long_poll){ ask, is_finished, &asked }, until_ms, &answer));
    return session_is_json(session) ? print(session, &answer) : tell(session, reference, answer.json);
}

/* ---- By key ------------------------------------------------------------------------------------------------------------- */

enum exit_code key_read(struct session *session, const char **out_key)
{
    const char *key = session_option(session, OPTION_KEY);
    if (key != NULL && strlen(key) > KEY_SIZE_MAX)
        return problem_use(&session->problem, "--key is a text of up to %d bytes, not of %zu", KEY_SIZE_MAX,
                           strlen(key));
    *out_key = key;
    return EXIT_DONE;
}

/* Finds the instance that was executed with --key. */
static enum exit_code find_execution(struct session *session, struct reference *out_reference)
{
    struct answer answer;
    const char *workflow = session->settings.workflow, *key;
    TRY(key_read(session, &key));
    if (session->invocation.argument_count > 0 || session_has(session, OPTION_ID))
        return problem_use(&session->problem, "an execution is named by --key or by its id, not by both");
    if (workflow == NULL)
        return problem_use(&session->problem, "a key is of one workflow; --workflow says of which");
    if (strcmp(key, ".") == 0 || strcmp(key, "..") == 0)
        return problem_use(&session->problem,
                           "the key \"%s\" cannot be asked for: it means something else in a path; "
                           "the id, which execute printed, serves",
                           key);
    TRY(client_get(session,
                   pool_format(&session->pool, "/workflows/%s/execute/%s", path_segment(&session->pool, workflow),
                               path_segment(&session->pool, key)),
                   &answer));
    *out_reference = (struct reference){ workflow, json_text(answer.json, "id", "") };
    return EXIT_DONE;
}

enum exit_code run_instances_result(struct session *session)
{
    struct reference reference;
    TRY(session_has(session, OPTION_KEY) ? find_execution(session, &reference) : reference_find(session, &reference));
    return result_print(session, &reference);
}
