/* run_ask.c - commands that send one change and print its outcome in a sentence: pawl deferred succeed and fail, pawl jobs
 * complete, fail and heartbeat, pawl tick. */
#include <string.h>

#include "run.h"
#include "verb.h"

/* The token, from the argument or, for -, from standard input. */
static enum exit_code read_token(struct session *session, const char **out_token)
{
    struct words words;
    TRY(words_read(session, &words));
    if (words.count != 1)
        return problem_use(&session->problem, "standard input has %s, not one",
                           counted(&session->pool, (int64_t)words.count, "line"));
    for (const char *at = words.items[0]; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~' || strchr("/?#%", *at) != NULL)
            return problem_use(&session->problem, "this is not a token: it has a character that no token has");
    *out_token = words.items[0];
    return EXIT_DONE;
}

static void say(struct session *session, const struct verb *verb, const json_t *answer)
{
    bool is_idle = verb->is_idle != NULL && verb->is_idle(answer);
    const char *done = template_fill(&session->pool, is_idle ? verb->idle : verb->done, answer, session->screen.now_ms);
    const char *then = verb->then != NULL ? verb->then : "";
    if (json_flag(answer, "paused"))
        then = "; its run is paused, and goes on when it is resumed";
    pw_buffer_format(&session->out, "%s%s\n", safe(&session->pool, done != NULL ? done : "done"), then);
}

enum exit_code run_ask(struct session *session)
{
    const struct verb *verb = verb_of(session);
    struct answer answer;
    const char *token = "", *members = NULL;
    TRY(words_check(session));
    TRY(verb_compose(session, verb->fields, &members));
    if (session->invocation.command->argument == ARGUMENT_TOKEN)
        TRY(read_token(session, &token));
    TRY(client_ask(session, "POST", verb_path(&session->pool, verb->path, path_segment(&session->pool, token)),
                   pool_format(&session->pool, "{%s}", members), &answer));
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        say(session, verb, answer.json);
    return session_print(session);
}
