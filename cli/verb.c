/* verb.c - see verb.h. */
#include "verb.h"

#include <string.h>

#include "json_input.h"
#include "moment.h"
#include "view.h"

enum { LEASE_MS_MIN = 1000, LEASE_MS_MAX = 60 * 60 * 1000 };

const struct verb instances_verb = { .path = "/workflows/{workflow}/instances", .rows = "instances" };

const struct verb *verb_of(const struct session *session)
{
    const struct verb *verb = session->invocation.command->verbs;
    while (verb->when != OPTION_NONE && !session_has(session, verb->when))
        verb++;
    return verb;
}

const char *verb_path(struct pool *pool, const char *path, const char *target)
{
    size_t before = strcspn(path, "{"), behind = strcspn(path, "}");
    if (path[before] == '\0')
        return path;
    return pool_format(pool, "%.*s%s%s", (int)before, path, target, path + behind + 1);
}

/* ---- Fields ---------------------------------------------------------------------------------------------------------- */

static bool is_sent(const struct session *session, const struct field *field)
{
    return field->option == OPTION_NONE || session_has(session, field->option);
}

void verb_put_query(const struct session *session, struct pw_buffer *path, const struct field *fields)
{
    for (; fields != NULL && fields->name != NULL; fields++)
        if (is_sent(session, fields))
            query_put(path, fields->name,
                      fields->literal != NULL ? fields->literal : session_option(session, fields->option));
}

static enum exit_code show_duration(struct session *session, enum option_id id, const char *value,
                                    const char **out_text)
{
    int64_t ms = 0;
    (void)duration_parse(value, &ms);
    if (id == OPTION_LEASE && (ms < LEASE_MS_MIN || ms > LEASE_MS_MAX))
        return problem_use(&session->problem, "--lease is 1s to 1h, not \"%s\"", value);
    *out_text = pool_format(&session->pool, "%lld", (long long)ms);
    return EXIT_DONE;
}

/* The value of an option that was given, as JSON. */
static enum exit_code show_option(struct session *session, enum option_id id, const char **out_text)
{
    const char *value = session_option(session, id);
    const char *who = pool_format(&session->pool, "--%s", option_table[id].name);
    enum pw_option_kind kind = option_table[id].kind;
    if (kind == PW_OPTION_JSON)
        return json_input_read(&session->pool, &session->problem, who, value, out_text);
    if (kind == PW_OPTION_DURATION)
        return show_duration(session, id, value, out_text);
    if (kind != PW_OPTION_NUMBER)
        return json_input_quote(&session->pool, &session->problem, who, value, out_text);
    *out_text = value;
    return EXIT_DONE;
}

enum exit_code verb_compose(struct session *session, const struct field *fields, const char **out_members)
{
    const char *members = "";
    for (; fields != NULL && fields->name != NULL; fields++) {
        const char *text = fields->literal;
        if (!is_sent(session, fields))
            continue;
        if (text == NULL)
            TRY(show_option(session, fields->option, &text));
        members =
            pool_format(&session->pool, "%s%s\"%s\":%s", members, members[0] != '\0' ? "," : "", fields->name, text);
    }
    *out_members = members;
    return EXIT_DONE;
}

/* ---- What is as it is to be ------------------------------------------------------------------------------------------ */

bool instance_is_paused(const json_t *instance)
{
    const char *phase = phase_of(json_at(instance, "details"));
    return strcmp(phase, "paused") == 0 || strcmp(phase, "waitingForPause") == 0 ||
           strcmp(phase, "waitingForRepair") == 0;
}

bool instance_is_not_paused(const json_t *instance)
{
    return !instance_is_paused(instance);
}

/* Not while it is paused: then an interrupt has an effect, it ends the pause. */
bool instance_is_stopping(const json_t *instance)
{
    return json_flag(instance, "meta.interrupted") && !instance_is_paused(instance);
}

bool instance_is_rolling_back(const json_t *instance)
{
    return instance_is_stopping(instance) && strcmp(json_text(instance, "meta.demand", "interrupt"), "interrupt") != 0;
}

bool nothing_was_processed(const json_t *answer)
{
    return json_number(answer, "processed", 0) == 0;
}
