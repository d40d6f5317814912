/* review.c - a document goes through stages, each a small program, and is reviewed by a person before it is
 * published.
 *
 *     ./review review-1 approve    drafts, refines, is approved and publishes review-1.final
 *     ./review review-2 reject     is rejected, and what the stages have left behind is removed
 *
 * The review is a deferred: an unguessable token for the reviewer, who can answer with it from anywhere:
 *
 *     curl -s localhost:7295/api/deferred/$token/succeed --json '{"result": {"notes": "fine"}}'
 *     curl -s localhost:7295/api/deferred/$token/fail --json '{"name": "Rejected", "message": "too long"}'
 *
 * This example writes the token to the run's log, so everybody who can read the log can approve.  A real one would
 * send it by mail.
 *
 * The stages stand for calls of a model, or for anything that takes long.  They read JSON from standard input and
 * write JSON to standard output.  Here it is a text, so that sed can be all of the intelligence. */
#include <errno.h>
#include <pawl/pawl.h>
#include <string.h>
#include <unistd.h>

/* ---- Stages ----------------------------------------------------------------------------------------------------- */

/* A stage may run again after a crash.  So it writes its file under another name and renames it, and the file is
 * complete or missing.  The instance's id needs no quotes, because it consists of letters, digits, _ and -. */
static const char *const draft_program[] = { "sh", "-ec",
                                             "sed 's/^\"/\"A first draft about /' >$PAWL_INSTANCE_ID.new\n"
                                             "mv $PAWL_INSTANCE_ID.new $PAWL_INSTANCE_ID.draft\n"
                                             "cat $PAWL_INSTANCE_ID.draft",
                                             NULL };
static const char *const refine_program[] = { "sed", "s/first draft/second, much better draft/", NULL };
static const char *const publish_program[] = { "sh", "-ec",
                                               "sed 's/second, much better draft/text/' >$PAWL_INSTANCE_ID.new\n"
                                               "mv $PAWL_INSTANCE_ID.new $PAWL_INSTANCE_ID.final\n"
                                               "rm -f $PAWL_INSTANCE_ID.draft\n"
                                               "cat $PAWL_INSTANCE_ID.final",
                                               NULL };
static const struct pawl_process draft = { .arguments = draft_program };
static const struct pawl_process refine = { .arguments = refine_program };
static const struct pawl_process publish = { .arguments = publish_program };

/* Undoing a step may also run more than once, so it accepts a file that is already gone. */
static pawl_status remove_draft(pawl_step *step, const pawl_value *done, pawl_value **out_result)
{
    const char *path = pawl_scope_format(pawl_step_scope(step), "%s.draft", pawl_run_id(pawl_step_run(step)));
    (void)done;
    (void)out_result;
    if (path == NULL)
        return PAWL_NOMEM;
    if (unlink(path) != 0 && errno != ENOENT)
        return pawl_fail(step, "NotRemoved", "%s: %s", path, strerror(errno));
    return PAWL_OK;
}

static const struct pawl_compensation by_removing = { .undo = remove_draft };
static const struct pawl_step_options drafting = { .timeout = "10 minutes", .compensate = &by_removing };
static const struct pawl_step_options refining = { .timeout = "10 minutes" };

/* ---- The gate --------------------------------------------------------------------------------------------------- */

static pawl_status ask_reviewer(pawl_step *step, const pawl_value *question, pawl_value **out_result)
{
    (void)out_result;
    return pawl_step_log(step, PAWL_LOG_INFO, "review", question, "waiting for a reviewer");
}

static pawl_status review(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *drafted, *refined, *question, *answer, *text;
    const char *token;

    PAWL_TRY(pawl_do_process(run, "draft", &drafting, &draft, pawl_value_at(params, "task"), &drafted));
    PAWL_TRY(pawl_do_process(run, "refine", &refining, &refine, drafted, &refined));

    PAWL_TRY(pawl_deferred_token(run, "review", &token));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &question, "{s:s, s:V}", "token", token, "text", refined));
    PAWL_TRY(pawl_do(run, "ask reviewer", NULL, ask_reviewer, question, NULL));

    /* A rejection fails the wait, and so does a timeout of three days.  Both end the run here, and the draft is
     * removed. */
    PAWL_TRY(pawl_await_deferred(run, "review", "3 days", &answer));
    PAWL_TRY(pawl_do_process(run, "publish", &refining, &publish, refined, &text));
    return pawl_return(run, out_result, "{s:V, s:V}", "text", text, "notes", pawl_value_at(answer, "notes"));
}

PAWL_MODULE({ .name = "review", .run = review, .description = "Drafts, refines, asks a person, publishes" });

#ifndef PAWL_NO_MAIN
#include "host.h"

/* Waits until the run has asked or has finished. */
static pawl_status wait_for_question(struct host *host, const char *id)
{
    for (;;) {
        struct pawl_instance instance;
        pawl_scope *scope = pawl_scope_new();
        pawl_status status = pawl_get(host->engine, scope, "review", id, &instance, &host->error);
        bool has_asked = status != PAWL_OK || instance.status >= PAWL_COMPLETE ||
                         (instance.status == PAWL_WAITING && strcmp(instance.current_step->name, "review") == 0);
        pawl_scope_free(scope);
        if (has_asked)
            return status;
        host_pause_ms(20);
    }
}

/* Reads the token from the log, as a person would. */
static pawl_status find_token(struct host *host, const char *id, const char **out_token)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    pawl_value *question = NULL;
    options.include_logs = true;
    options.log_category = "review";
    PAWL_TRY(pawl_get_history(host->engine, host->scope, "review", id, &options, &history, &host->error));
    for (size_t i = 0; i < history.log_count && question == NULL; i++)
        PAWL_TRY(pawl_value_parse(host->scope, history.logs[i].data_json, strlen(history.logs[i].data_json), &question,
                                  &host->error));
    *out_token = pawl_value_string(question, "token", "");
    return PAWL_OK;
}

static pawl_status decide(struct host *host, const char *id, const char *verdict)
{
    const char *token;
    PAWL_TRY(wait_for_question(host, id));
    PAWL_TRY(find_token(host, id, &token));
    printf("the reviewer's token is %s\n", token);
    pawl_status status = strcmp(verdict, "reject") == 0
                             ? pawl_deferred_fail(host->engine, token, "Rejected", "too long", &host->error)
                             : pawl_deferred_succeed(host->engine, token, "{\"notes\": \"fine\"}", &host->error);
    return status == PAWL_INVALID_TOKEN ? PAWL_OK : status; /* the run has ended: it was decided before */
}

int main(int argc, char **argv)
{
    const char *id = argc > 1 ? argv[1] : "review-1";
    struct host host;

    pawl_status status = host_open(&host, "sqlite:review.db", &pawl_module, NULL);
    if (status == PAWL_OK)
        status = host_create(&host, "review", id, "{\"task\": \"pawls and ratchets\"}");
    if (status == PAWL_OK)
        status = decide(&host, id, argc > 2 ? argv[2] : "approve");
    if (status == PAWL_OK)
        status = host_wait(&host, "review", id);
    if (status == PAWL_OK)
        status = host_show(&host, "review", id);
    return host_close(&host, status);
}
#endif
