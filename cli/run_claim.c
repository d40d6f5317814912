/* run_claim.c - pawl jobs claim: takes jobs as a worker does, by hand or in a script. */
#include <string.h>

#include "long_poll.h"
#include "run.h"
#include "verb.h"

enum { FUNCTIONS_MAX = 64 };

static bool is_function_name(const char *text)
{
    size_t size = strlen(text);
    return size >= 1 && size <= 63 && text[0] != '-' && text[0] != '.' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == size;
}

/* The body of the request, without waitMs and the closing brace. */
static enum exit_code compose_claim(struct session *session, const char **out_body)
{
    const struct invocation *invocation = &session->invocation;
    const char *names = "", *members;
    TRY(verb_compose(session, verb_of(session)->fields, &members));
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
    *out_body = pool_format(&session->pool, "{\"functions\":[%s]%s%s", names, members[0] != '\0' ? "," : "", members);
    return EXIT_DONE;
}

static enum exit_code ask_for_jobs(struct session *session, void *user, int64_t wait_ms, struct answer *out_answer)
{
    const char *const *body = user;
    return client_ask_within(session, "POST", verb_of(session)->path,
                             pool_format(&session->pool, "%s,\"waitMs\":%lld}", *body, (long long)wait_ms),
                             wait_ms + session->settings.timeout_ms, out_answer);
}

static bool has_jobs(const json_t *answer)
{
    return json_array_size(json_at(answer, "jobs")) > 0;
}

static const struct column job_facts[] = {
    { .heading = "token", .template = "{token}" },
    { .heading = "function", .template = "{function}" },
    { .heading = "for",
      .template = "{workflowName}/{instanceId}, run {runNumber}, step \"{step}\", attempt {attempt}" },
    { .heading = "data", .template = "{data:json}" },
    { .heading = "leased", .template = "until {leasedUntil:time}, {leasedUntil:ago}" },
    { .heading = "deadline", .template = "{deadlineAt:time}, {deadlineAt:ago}" },
    { .heading = NULL },
};

static void show_jobs(struct session *session, const json_t *jobs)
{
    json_each(job, jobs) {
        struct table table;
        if (session_is_ids(session)) {
            pw_buffer_format(&session->out, "%s\n", safe(&session->pool, json_text(job.value, "token", "")));
            continue;
        }
        pw_buffer_put(&session->out, job.index > 0 ? "\n" : "");
        table_init_facts(&table);
        table_add_facts(&table, session, job_facts, job.value);
        table_print(&table, &session->screen, &session->out);
        table_free(&table);
    }
}

enum exit_code run_jobs_claim(struct session *session)
{
    struct answer answer;
    const char *body = NULL;
    TRY(compose_claim(session, &body));
    int64_t until_ms = long_poll_until_ms(session, session_has(session, OPTION_WAIT_JOB));
    TRY(long_poll_ask(session, &(struct long_poll){ ask_for_jobs, has_jobs, &body }, until_ms, &answer));
    screen_refresh(&session->screen); /* time has passed */
    if (session_is_json(session))
        session_put_answer(session, &answer);
    else
        show_jobs(session, json_at(answer.json, "jobs"));
    TRY(session_print(session));
    if (has_jobs(answer.json))
        return EXIT_DONE;
    (void)problem_set(&session->problem, EXIT_NOT_FINISHED, "NO_JOB", "there is no job to claim%s",
                      until_ms == 0 ? "; --wait waits for one" : "");
    if (session_is_json(session))
        session->problem.text[0] = '\0'; /* the answer says it */
    return EXIT_NOT_FINISHED;
}
