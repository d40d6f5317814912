/* run_control.c - pawl instances pause, resume, restart, retry, interrupt, terminate, send-event: of one instance, or of
 * many. */
#include <string.h>

#include "bulk.h"
#include "json_input.h"
#include "reference.h"
#include "run.h"
#include "view.h"

struct action {
    const char *route; /* "/pause" */
    const char *done;  /* "paused" */
    const char *body;  /* or NULL */
    /* Whether an instance, as GET answers it, is as it is to be already; NULL: there is always something to do. */
    bool (*is_idle)(const json_t *instance);
    const char *idle; /* "was not paused" */
    /* The phase in which what was asked for has come to be; NULL: it has when the server says yes. */
    const char *reached;
};

static bool is_paused(const json_t *instance)
{
    const char *phase = phase_of(json_at(instance, "details"));
    return strcmp(phase, "paused") == 0 || strcmp(phase, "waitingForPause") == 0 ||
           strcmp(phase, "waitingForRepair") == 0;
}

static bool is_not_paused(const json_t *instance)
{
    return !is_paused(instance);
}

/* An interrupt of a paused one lifts the pause. */
static bool is_stopping(const json_t *instance)
{
    return json_flag(instance, "meta.interrupted") && !is_paused(instance);
}

static bool is_rolling_back(const json_t *instance)
{
    return is_stopping(instance) && strcmp(json_text(instance, "meta.demand", "interrupt"), "interrupt") != 0;
}

/* The phase of one that is as it is to be, before anything is done to it.  NULL: it is not, it is not asked for, or is not
 * told, as to one who may only manage. */
static const char *phase_of_idle(struct session *session, const struct action *action,
                                 const struct reference *reference)
{
    struct answer answer;
    const char *phase = NULL;
    if (action->is_idle == NULL ||
        client_probe(session, reference_path(&session->pool, reference), &answer) != EXIT_DONE)
        return NULL;
    if (action->is_idle(answer.json))
        phase = pool_string(&session->pool, phase_of(json_at(answer.json, "details")));
    answer_free(&answer);
    return phase;
}

/* How one that was told something stands now; "told to pause" is all there is to say when that is not told. */
static void note_reached(struct session *session, const struct action *action, const struct reference *reference,
                         struct bulk_item *item)
{
    struct answer answer;
    if (client_probe(session, reference_path(&session->pool, reference), &answer) != EXIT_DONE)
        return;
    const char *phase = phase_of(json_at(answer.json, "details"));
    if (strcmp(phase, action->reached) == 0)
        item->done = action->reached;
    else
        item->more = pool_format(&session->pool, "; it is %s", safe(&session->pool, phase_show(phase)));
    answer_free(&answer);
}

static enum exit_code apply(struct session *session, const struct action *action, struct reference *reference,
                            struct bulk_item *item)
{
    struct answer answer;
    enum exit_code code = reference_resolve(session, reference);
    if (code != EXIT_DONE)
        return code;
    const char *idle = phase_of_idle(session, action, reference);
    const char *path = pool_format(&session->pool, "%s%s", reference_path(&session->pool, reference), action->route);
    code = client_ask(session, "POST", path, action->body, &answer);
    if (code != EXIT_DONE)
        return explain_workflow(session, code, reference->workflow);
    const json_t *details = json_at(answer.json, "status"); /* an event answers how the instance stands */
    const char *phase = json_is_object(details) ? phase_of(details) : NULL;
    if (idle != NULL) {
        item->idle = action->idle;
        phase = idle;
    }
    if (phase != NULL && (item->idle == NULL || strcmp(phase, "paused") != 0))
        item->more = pool_format(&session->pool, "; it is %s", safe(&session->pool, phase_show(phase)));
    answer_free(&answer);
    if (idle == NULL && action->reached != NULL)
        note_reached(session, action, reference, item);
    return EXIT_DONE;
}

static json_t *describe(const struct reference *reference)
{
    json_t *json = reference->workflow != NULL
                       ? json_pack("{s:s, s:s}", "workflowName", reference->workflow, "id", reference->id)
                       : json_pack("{s:s}", "id", reference->id);
    if (json == NULL)
        out_of_memory();
    return json;
}

static enum exit_code do_to_all(struct session *session, const struct action *action)
{
    struct reference *references;
    size_t count;
    struct bulk bulk;
    bool is_dry = session_has(session, OPTION_DRY_RUN);
    enum exit_code code = reference_parse_all(session, &references, &count);
    if (code != EXIT_DONE)
        return code;
    bulk_begin(&bulk, session, is_dry ? pool_format(&session->pool, "would be %s", action->done) : action->done, count);
    if (is_dry)
        bulk.is_quiet = false; /* which ones is the question */
    for (size_t i = 0; i < count; i++) {
        struct bulk_item item = { .name = references[i].id };
        item.code = is_dry ? reference_resolve(session, &references[i]) : apply(session, action, &references[i], &item);
        if (references[i].workflow != NULL)
            item.name = reference_name(&session->pool, &references[i]);
        item.json = describe(&references[i]);
        if (!bulk_note(&bulk, &item))
            break;
    }
    return bulk_end(&bulk);
}

enum exit_code run_instances_pause(struct session *session)
{
    /* A busy run pauses at its next step boundary. */
    return do_to_all(session,
                     &(struct action){ "/pause", "told to pause", NULL, is_paused, "was paused already", "paused" });
}

enum exit_code run_instances_resume(struct session *session)
{
    return do_to_all(session, &(struct action){ "/resume", "resumed", NULL, is_not_paused, "was not paused", NULL });
}

enum exit_code run_instances_restart(struct session *session)
{
    struct action action = { .route = "/restart", .done = "restarted" };
    const char *from = session_option(session, OPTION_FROM), *quoted;
    if (from != NULL) {
        enum exit_code code = json_input_quote(&session->pool, &session->problem, "--from", from, &quoted);
        if (code != EXIT_DONE)
            return code;
        action.body = pool_format(&session->pool, "{\"from\":%s}", quoted);
        action.done = pool_format(&session->pool, "restarted from %s", safe(&session->pool, quoted));
    }
    return do_to_all(session, &action);
}

enum exit_code run_instances_retry(struct session *session)
{
    return do_to_all(session, &(struct action){ .route = "/retry", .done = "retried" });
}

enum exit_code run_instances_interrupt(struct session *session)
{
    /* It ends when its next durable call was told so, and all is undone. */
    return do_to_all(
        session, &(struct action){ "/interrupt", "told to stop", NULL, is_stopping, "was told to stop already", NULL });
}

enum exit_code run_instances_terminate(struct session *session)
{
    struct action action = { .route = "/terminate", .done = "terminated" };
    if (session_has(session, OPTION_ROLLBACK)) {
        action.body = "{\"rollback\":true}";
        action.done = "told to roll back"; /* that takes its time */
        action.is_idle = is_rolling_back;
        action.idle = "was told to roll back already";
    }
    return do_to_all(session, &action);
}

enum exit_code run_instances_send_event(struct session *session)
{
    const char *type = session_option(session, OPTION_TYPE), *id = session_option(session, OPTION_EVENT_ID);
    const char *payload = NULL, *payload_part = "", *id_part = "";
    enum exit_code code = words_check(session);
    if (code != EXIT_DONE)
        return code;
    if (session_has(session, OPTION_PAYLOAD)) {
        code = json_input_read(&session->pool, &session->problem, "--payload", session_option(session, OPTION_PAYLOAD),
                               &payload);
        if (code != EXIT_DONE)
            return code;
        payload_part = pool_format(&session->pool, ",\"payload\":%s", payload);
    }
    if (id != NULL) {
        code = json_input_quote(&session->pool, &session->problem, "--event-id", id, &id);
        if (code != EXIT_DONE)
            return code;
        id_part = pool_format(&session->pool, ",\"id\":%s", id);
    }
    struct action action = { .route = "/events",
                             .done = pool_format(&session->pool, "was sent %s", type),
                             .body =
                                 pool_format(&session->pool, "{\"type\":\"%s\"%s%s}", type, payload_part, id_part) };
    return do_to_all(session, &action);
}
