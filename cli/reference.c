/* reference.c - see reference.h. */
#include "reference.h"

#include <string.h>

#include "common/suggest.h"
#include "json_input.h"
#include "listing.h"

const char *reference_path(struct pool *pool, const struct reference *reference)
{
    return pool_format(pool, "/workflows/%s/instances/%s", path_segment(pool, reference->workflow),
                       path_segment(pool, reference->id));
}

const char *reference_name(struct pool *pool, const struct reference *reference)
{
    return pool_format(pool, "%s/%s", reference->workflow, safe(pool, reference->id));
}

/* ---- Words ----------------------------------------------------------------------------------------------------------- */

enum exit_code workflow_check(struct session *session, const char *workflow, const char *word)
{
    const char *named = session_option(session, OPTION_WORKFLOW);
    if (!is_workflow_name(workflow) && strchr(word, '/') != NULL)
        return problem_use(&session->problem, "\"%s\" is not WORKFLOW/ID: \"%s\" is not a workflow's name", word,
                           workflow);
    if (!is_workflow_name(workflow))
        return problem_use(&session->problem, "\"%s\" is not a workflow's name, which is 1 to 64 of a-z A-Z 0-9 _ -",
                           workflow);
    if (named != NULL && strcmp(named, workflow) != 0)
        return problem_use(&session->problem, "is the workflow %s, or %s? --workflow and \"%s\" do not agree", named,
                           workflow, word);
    return EXIT_DONE;
}

static enum exit_code parse(struct session *session, const char *word, struct reference *out_reference)
{
    const char *slash = strrchr(word, '/');
    struct reference reference = { session->settings.workflow, slash != NULL ? slash + 1 : word };
    if (slash != NULL) {
        reference.workflow = pool_copy(&session->pool, word, (size_t)(slash - word));
        TRY(workflow_check(session, reference.workflow, word));
    }
    if (!is_name(reference.id))
        return problem_use(&session->problem,
                           "\"%s\" is not an instance: an id is 1 to 100 of a-z A-Z 0-9 _ -, not starting with -",
                           word);
    *out_reference = reference;
    return EXIT_DONE;
}

static size_t count_lines(const char *text)
{
    size_t count = 1;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

/* The lines of standard input, without blanks around them and without empty ones. */
static enum exit_code read_lines(struct session *session, struct words *out_words)
{
    const char *text = "";
    TRY(file_read(&session->pool, &session->problem, "-", "-", &text));
    size_t most = count_lines(text), count = 0;
    const char **lines = pool_take(&session->pool, sizeof *lines * most);
    size_t *numbers = pool_take(&session->pool, sizeof *numbers * most);
    for (size_t number = 1; *text != '\0'; number++) {
        size_t size = strcspn(text, "\n"), start = strspn(text, " \t\r"), end = size;
        while (end > start && strchr(" \t\r", text[end - 1]) != NULL)
            end--;
        if (end > start) {
            numbers[count] = number;
            lines[count++] = pool_copy(&session->pool, text + start, end - start);
        }
        text += size + (text[size] == '\n');
    }
    *out_words = (struct words){ lines, numbers, count };
    return EXIT_DONE;
}

static bool reads_json_from_input(const struct session *session)
{
    static const enum option_id options[] = { OPTION_PARAMS, OPTION_PAYLOAD, OPTION_BATCH, OPTION_RESULT };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const char *value = session_option(session, options[i]);
        if (value != NULL && strcmp(value, "-") == 0)
            return true;
    }
    return false;
}

enum exit_code words_check(struct session *session)
{
    const struct invocation *invocation = &session->invocation;
    for (size_t i = 0; i < invocation->argument_count; i++) {
        if (strcmp(invocation->arguments[i], "-") != 0)
            continue;
        if (invocation->argument_count > 1)
            return problem_use(&session->problem, "- stands alone: all come from standard input, or none");
        if (reads_json_from_input(session))
            return problem_use(&session->problem, "standard input cannot be both what is named and the JSON");
    }
    return EXIT_DONE;
}

enum exit_code words_read(struct session *session, struct words *out_words)
{
    const struct invocation *invocation = &session->invocation;
    TRY(words_check(session));
    *out_words = (struct words){ invocation->arguments, NULL, invocation->argument_count };
    bool is_input = invocation->argument_count == 1 && strcmp(invocation->arguments[0], "-") == 0;
    return is_input ? read_lines(session, out_words) : EXIT_DONE;
}

enum exit_code words_wrong(struct session *session, const struct words *words, size_t position)
{
    struct problem *problem = &session->problem;
    if (words->lines == NULL)
        return problem->exit_code;
    return problem_use(problem, "line %zu of standard input: %s; nothing was done", words->lines[position],
                       problem->text);
}

enum exit_code reference_parse_all(struct session *session, struct reference **out_references, size_t *out_count)
{
    const char *id = session_option(session, OPTION_ID);
    struct words words;
    TRY(words_read(session, &words));
    if (id != NULL && words.count > 0)
        return problem_use(&session->problem, "instances are named by --id or by arguments, not by both");
    if (id != NULL)
        words = (struct words){ &id, NULL, 1 };
    struct reference *references = pool_take(&session->pool, sizeof *references * (words.count + 1));
    for (size_t i = 0; i < words.count; i++)
        if (parse(session, words.items[i], &references[i]) != EXIT_DONE)
            return words_wrong(session, &words, i);
    *out_references = references;
    *out_count = words.count;
    return EXIT_DONE;
}

enum exit_code reference_parse_one(struct session *session, struct reference *out_reference)
{
    struct reference *references;
    size_t count;
    TRY(reference_parse_all(session, &references, &count));
    if (count != 1)
        return problem_use(&session->problem, "which instance? WORKFLOW/ID, or --workflow and --id, names it");
    *out_reference = references[0];
    return EXIT_DONE;
}

/* ---- Asking ------------------------------------------------------------------------------------------------------------ */

enum exit_code workflow_names(struct session *session, const char ***out_names, size_t *out_count)
{
    struct answer answer;
    TRY(client_get(session, "/workflows", &answer));
    const json_t *list = json_at(answer.json, "workflows");
    const char **names = pool_take(&session->pool, sizeof *names * (json_array_size(list) + 1));
    size_t count = 0;
    json_each(workflow, list) {
        const char *name = json_text(workflow.value, "name", "");
        if (is_workflow_name(name))
            names[count++] = name;
    }
    *out_names = names;
    *out_count = count;
    return EXIT_DONE;
}

enum exit_code explain_workflow(struct session *session, enum exit_code code, const char *workflow)
{
    const char **names;
    size_t count;
    struct problem first = session->problem;
    if (code != EXIT_REFUSED || strcmp(first.code, "WORKFLOW_NOT_FOUND") != 0)
        return code;
    enum exit_code asked = workflow_names(session, &names, &count);
    session->problem = first;
    if (asked != EXIT_DONE)
        return code;
    const char *nearest = pw_suggest(workflow, names, count);
    size_t size = strlen(session->problem.text), room = sizeof session->problem.text - size;
    if (nearest != NULL)
        (void)snprintf(session->problem.text + size, room, "; did you mean %s?", nearest);
    else
        (void)snprintf(session->problem.text + size, room, "; pawl workflows list shows those that are");
    return code;
}

bool workflow_is_withheld(const struct session *session, enum exit_code code)
{
    return code == EXIT_REFUSED && session->problem.http_status == 403 &&
           strcmp(session->problem.code, "FORBIDDEN") == 0;
}

/* The instance may be in a workflow that the token may not read. */
static const char *as_far_as_seen(size_t withheld)
{
    return withheld > 0 ? ", as far as this token may see" : "";
}

static enum exit_code resolve_latest(struct session *session, struct reference *reference)
{
    const struct listing listing = { &instances_verb, .is_by_workflow = true, .workflow = reference->workflow,
                                     .limit = 1 };
    const char *said = reference->workflow, *left_out;
    json_t *page = NULL;
    enum exit_code code = listing_page(session, &listing, &page, &left_out);
    bool is_withheld = left_out != NULL || (said == NULL && workflow_is_withheld(session, code));
    if (code != EXIT_DONE && !is_withheld)
        return code;
    const json_t *newest = json_array_get(json_at(page, "instances"), 0);
    reference->workflow = json_text(newest, "workflowName", "");
    reference->id = json_text(newest, "id", "");
    if (is_name(reference->id))
        return EXIT_DONE;
    reference->workflow = said;
    reference->id = "latest";
    return problem_set(&session->problem, EXIT_REFUSED, "INSTANCE_NOT_FOUND", "there is no instance%s%s yet%s",
                       said != NULL ? " of " : "", said != NULL ? said : "", as_far_as_seen(is_withheld));
}

/* *out_found: true if the workflow has an instance of that id and the token may read it. */
static enum exit_code has_instance(struct session *session, const struct reference *reference, bool *out_found,
                                   size_t *withheld)
{
    struct answer answer;
    enum exit_code code = client_get(session, reference_path(&session->pool, reference), &answer);
    *out_found = code == EXIT_DONE;
    bool is_withheld = workflow_is_withheld(session, code);
    *withheld += is_withheld;
    return (code == EXIT_REFUSED && session->problem.http_status == 404) || is_withheld ? EXIT_DONE : code;
}

static enum exit_code search(struct session *session, struct reference *reference)
{
    const char **names, *found = NULL;
    size_t count, withheld = 0;
    TRY(workflow_names(session, &names, &count));
    for (size_t i = 0; i < count; i++) {
        bool has = false;
        TRY(has_instance(session, &(struct reference){ names[i], reference->id }, &has, &withheld));
        if (has && found != NULL)
            return problem_use(&session->problem, "which %s is meant: %s/%s or %s/%s?", reference->id, found,
                               reference->id, names[i], reference->id);
        if (has)
            found = names[i];
    }
    if (found == NULL)
        return problem_set(&session->problem, EXIT_REFUSED, "INSTANCE_NOT_FOUND",
                           "no workflow of this server has an instance \"%s\"%s", reference->id,
                           as_far_as_seen(withheld));
    reference->workflow = found;
    return EXIT_DONE;
}

enum exit_code reference_resolve(struct session *session, struct reference *reference)
{
    if (strcmp(reference->id, "latest") == 0)
        return resolve_latest(session, reference);
    return reference->workflow == NULL ? search(session, reference) : EXIT_DONE;
}

enum exit_code reference_find(struct session *session, struct reference *out_reference)
{
    TRY(reference_parse_one(session, out_reference));
    return reference_resolve(session, out_reference);
}

enum exit_code workflow_meant(struct session *session, const char **out_workflow)
{
    const char *word = session->invocation.argument_count > 0 ? session->invocation.arguments[0] : NULL;
    *out_workflow = word != NULL ? word : session->settings.workflow;
    return word != NULL ? workflow_check(session, word, word) : EXIT_DONE;
}
