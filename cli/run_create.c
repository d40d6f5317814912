/* run_create.c - pawl instances create: one, or a batch; pawl instances execute: one, by its key. */
#include <stdio.h>
#include <string.h>

#include "common/json.h"
#include "common/limits.h"
#include "json_input.h"
#include "result.h"
#include "run.h"
#include "verb.h"
#include "view.h"

/* ---- Of what ------------------------------------------------------------------------------------------------------------ */

/* The argument is WORKFLOW or WORKFLOW/ID; --workflow and --id say the same. */
static enum exit_code parse_target(struct session *session, struct reference *out_target)
{
    const char *word = session->invocation.argument_count > 0 ? session->invocation.arguments[0] : NULL;
    const char *id = session_option(session, OPTION_NEW_ID), *slash = word != NULL ? strchr(word, '/') : NULL;
    struct reference target = { session->settings.workflow, slash != NULL ? slash + 1 : id };
    if (word != NULL)
        target.workflow = slash != NULL ? pool_copy(&session->pool, word, (size_t)(slash - word)) : word;
    if (slash != NULL && id != NULL)
        return problem_use(&session->problem, "the id is named by --id or by \"%s\", not by both", word);
    if (target.workflow == NULL)
        return problem_use(&session->problem, "of which workflow? pawl instances create WORKFLOW, or --workflow");
    TRY(workflow_check(session, target.workflow, word != NULL ? word : target.workflow));
    if (target.id != NULL && !is_name(target.id))
        return problem_use(&session->problem,
                           "\"%s\" is not an id, which is 1 to 100 of a-z A-Z 0-9 _ -, not starting "
                           "with -",
                           target.id);
    if (target.id != NULL && strcmp(target.id, "latest") == 0)
        return problem_use(&session->problem, "an instance cannot be called latest: that is the newest one");
    *out_target = target;
    return EXIT_DONE;
}

/* ---- One ------------------------------------------------------------------------------------------------------------------ */

static enum exit_code show_begun(struct session *session, const struct reference *target, const struct answer *answer)
{
    const char *phase = phase_of(json_at(answer->json, "details"));
    if (session_is_json(session)) {
        session_put_answer(session, answer);
    } else {
        pw_buffer_put(&session->out, reference_name(&session->pool, target));
        if (!session_is_ids(session)) {
            pw_buffer_put(&session->out, "  ");
            screen_put(&session->screen, &session->out, status_style(phase), safe(&session->pool, phase_show(phase)));
        }
        pw_buffer_put(&session->out, "\n");
    }
    return session_print(session);
}

/* The verb's path, with the workflow in it. */
static const char *path_of(struct session *session, const struct reference *target)
{
    return verb_path(&session->pool, verb_of(session)->path, path_segment(&session->pool, target->workflow));
}

/* Creates the instance, and prints it, or its result if that is awaited.  Sets target->id from the answer. */
static enum exit_code begin(struct session *session, struct reference *target)
{
    struct answer answer;
    const char *members, *id = "";
    TRY(verb_compose(session, verb_of(session)->fields, &members));
    if (target->id != NULL)
        id = pool_format(&session->pool, "\"id\":\"%s\"%s", target->id, members[0] != '\0' ? "," : "");
    TRY(client_ask(session, "POST", path_of(session, target), pool_format(&session->pool, "{%s%s}", id, members),
                   &answer));
    target->id = json_text(answer.json, "id", "");
    if (!result_is_awaited(session))
        return show_begun(session, target, &answer);
    enum exit_code code = result_print(session, target);
    if (code == EXIT_REFUSED || code == EXIT_UNREACHABLE) /* the instance exists all the same */
        (void)fprintf(stderr, "pawl: %s was created; its result could not be asked for\n",
                      reference_name(&session->pool, target));
    return code;
}

/* The request itself does not wait: result_print() does, across restarts of the server. */
enum exit_code run_instances_execute(struct session *session)
{
    struct reference target = { NULL, NULL };
    const char *key;
    TRY(workflow_meant(session, &target.workflow));
    if (target.workflow == NULL)
        return problem_use(&session->problem, "which workflow? pawl instances execute WORKFLOW, or --workflow");
    if (session_has(session, OPTION_DISCARD) &&
        (session_has(session, OPTION_WAIT) || session_has(session, OPTION_WAIT_FOR)))
        return problem_use(&session->problem, "--discard does not wait; it does not go with --wait or --for");
    TRY(key_read(session, &key));
    return begin(session, &target);
}

/* ---- Many ----------------------------------------------------------------------------------------------------------------- */

/* An entry of the list, as the user wrote it. */
struct entry {
    const char *text;
    size_t size;
};

struct batch {
    struct entry *entries;
    size_t count;
};

static enum exit_code check_entry(struct session *session, const json_t *entry, size_t number)
{
    const char *key;
    json_t *member;
    if (!json_is_object(entry) || !is_name(json_text(entry, "id", "")))
        return problem_use(&session->problem,
                           "--batch: entry %zu is not {\"id\": ..., \"params\": ...} with an id of 1 to "
                           "100 of a-z A-Z 0-9 _ -",
                           number);
    if (json_is(entry, "id", "latest"))
        return problem_use(&session->problem,
                           "--batch: entry %zu: an instance cannot be called latest: that is the newest one", number);
    json_object_foreach((json_t *)entry, key, member)
        if (strcmp(key, "id") != 0 && strcmp(key, "params") != 0)
            return problem_use(&session->problem, "--batch: entry %zu has \"%s\"; there are only id and params", number,
                               key);
    return EXIT_DONE;
}

static enum exit_code read_batch(struct session *session, struct batch *out_batch)
{
    const char *text;
    TRY(json_input_read(&session->pool, &session->problem, "--batch", session_option(session, OPTION_BATCH), &text));
    struct pw_text list = pw_text_of(text);
    struct pw_json_part part;
    size_t at = 0, count = 0;
    if (text[pw_json_blanks(list)] != '[')
        return problem_use(&session->problem, "--batch is a list: [{\"id\": ..., \"params\": ...}, ...]");
    while (pw_json_next(list, &at, &part))
        count++;
    struct batch batch = { pool_take(&session->pool, sizeof *batch.entries * (count + 1)), 0 };
    for (at = 0; pw_json_next(list, &at, &part); batch.count++) {
        struct pool mark = pool_mark(&session->pool);
        json_t *entry = pool_json(&session->pool, json_read(part.value.data, part.value.size));
        TRY(check_entry(session, entry, batch.count + 1));
        pool_release(&session->pool, mark);
        batch.entries[batch.count] = (struct entry){ part.value.data, part.value.size };
    }
    *out_batch = batch;
    return EXIT_DONE;
}

static enum exit_code send_part(struct session *session, const struct reference *target, const struct batch *batch,
                                size_t from, json_t *created)
{
    struct pw_buffer body = { 0 };
    struct answer answer;
    pw_buffer_put(&body, "{\"instances\":[");
    for (size_t i = from; i < from + PW_BATCH_CREATE_MAX && i < batch->count; i++) {
        pw_buffer_put(&body, i > from ? "," : "");
        pw_buffer_add(&body, batch->entries[i].text, batch->entries[i].size);
    }
    pw_buffer_put(&body, "]}");
    const char *path = pool_format(&session->pool, "%s/batch", path_of(session, target));
    TRY(client_ask(session, "POST", path, text_keep(&session->pool, &body), &answer));
    (void)json_array_extend(created, json_at(answer.json, "instances"));
    return EXIT_DONE;
}

static void show_batch(struct session *session, const struct reference *target, const json_t *created, size_t asked)
{
    size_t count = json_array_size(created);
    if (session_is_ids(session))
        json_each(instance, created)
            pw_buffer_format(&session->out, "%s/%s\n", target->workflow,
                             safe(&session->pool, json_text(instance.value, "id", "")));
    else if (count == asked)
        pw_buffer_format(&session->out, "%zu created\n", count);
    else
        pw_buffer_format(&session->out, "%zu created, %zu skipped, because their ids exist\n", count, asked - count);
}

static enum exit_code create_batch(struct session *session, const struct reference *target)
{
    static const enum option_id others[] = { OPTION_PARAMS, OPTION_NEW_ID, OPTION_RETURN_EXISTING, OPTION_WAIT,
                                             OPTION_WAIT_FOR };
    struct batch batch = { NULL, 0 };
    json_t *answer = pool_json(&session->pool, json_pack("{s:[]}", "instances"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (session_has(session, others[i]))
            return problem_use(&session->problem, "--batch and --%s do not go together", option_table[others[i]].name);
    if (target->id != NULL)
        return problem_use(&session->problem, "with --batch the ids are in the list");
    TRY(read_batch(session, &batch));
    json_t *created = json_at(answer, "instances");
    for (size_t from = 0; from < batch.count; from += PW_BATCH_CREATE_MAX)
        TRY(send_part(session, target, &batch, from, created));
    if (session_is_json(session))
        session_put_json(session, answer);
    else
        show_batch(session, target, created, batch.count);
    return session_print(session);
}

enum exit_code run_instances_create(struct session *session)
{
    struct reference target;
    TRY(parse_target(session, &target));
    return session_has(session, OPTION_BATCH) ? create_batch(session, &target) : begin(session, &target);
}
