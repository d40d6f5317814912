/* check.c - see check.h.  Texts go into an error only through pw_check_shown(). */
#include "service/check.h"

#include "base/error.h"
#include "base/limits.h"

pawl_status pw_check_given(const void *argument, const char *name, struct pawl_error *error)
{
    return argument != NULL ? PAWL_OK : pw_error(error, PAWL_INVALID, "%s is missing (NULL)", name);
}

pawl_status pw_check_answer(const void *scope, const void *out_answer, const char *name, struct pawl_error *error)
{
    PAWL_TRY(pw_check_given(scope, "scope", error));
    return pw_check_given(out_answer, name, error);
}

const char *pw_check_shown(struct pw_text text, char out[PW_SHOWN_SIZE])
{
    const size_t size_max = PW_SHOWN_SIZE - sizeof "...";
    size_t size = text.size < size_max ? text.size : size_max;
    for (size_t i = 0; i < size; i++)
        out[i] = text.data[i] >= ' ' && text.data[i] <= '~' ? text.data[i] : '?';
    if (text.size > size)
        memcpy(out + size, "...", sizeof "...");
    else
        out[size] = '\0';
    return out;
}

static bool is_allowed(char letter)
{
    return pw_text_is_identifier((struct pw_text){ &letter, 1 }, 1, true) || letter == '-';
}

/* All kinds of identifiers share one alphabet.  `what` and `rule` are for the error. */
static pawl_status check_identifier(struct pw_text text, size_t size_max, pawl_status refusal, const char *what,
                                    const char *rule, struct pawl_error *error)
{
    char shown[PW_SHOWN_SIZE];
    if (text.data != NULL && pw_text_is_identifier(text, size_max, true))
        return PAWL_OK;
    if (text.data == NULL || text.size == 0)
        return pw_error(error, refusal, "%s is %s; %s", what, text.data == NULL ? "missing" : "empty", rule);
    pw_check_shown(text, shown);
    for (size_t i = 0; i < text.size; i++) {
        if (!is_allowed(text.data[i]))
            return pw_error(error, refusal, "%s \"%s\" has a character that is not allowed at position %zu; %s", what,
                            shown, i + 1, rule);
    }
    if (text.size > size_max)
        return pw_error(error, refusal, "%s \"%s\" has %zu characters; %s", what, shown, text.size, rule);
    return pw_error(error, refusal, "%s \"%s\" starts with -; %s", what, shown, rule);
}

pawl_status pw_check_instance_id(struct pw_text id, struct pawl_error *error)
{
    return check_identifier(id, PW_INSTANCE_ID_MAX, PAWL_INVALID_INSTANCE_ID, "instance id",
                            pawl_status_text(PAWL_INVALID_INSTANCE_ID), error);
}

pawl_status pw_check_event_type(struct pw_text type, struct pawl_error *error)
{
    return check_identifier(type, PW_EVENT_TYPE_MAX, PAWL_INVALID_EVENT_TYPE, "event type",
                            pawl_status_text(PAWL_INVALID_EVENT_TYPE), error);
}

pawl_status pw_check_event_id(struct pw_text id, struct pawl_error *error)
{
    return check_identifier(id, PW_EVENT_ID_MAX, PAWL_INVALID, "event id",
                            "an event id is 1 to 100 of [a-zA-Z0-9_-], not starting with -", error);
}

pawl_status pw_check_workflow(pawl_engine *engine, const char *workflow, struct pw_definition **out_definition,
                              struct pawl_error *error)
{
    PAWL_TRY(pw_check_given(engine, "engine", error));
    PAWL_TRY(pw_check_given(workflow, "workflow", error));
    return pw_engine_require(engine, workflow, out_definition, error);
}

pawl_status pw_check_target(pawl_engine *engine, const char *workflow, const char *id,
                            struct pw_definition **out_definition, struct pawl_error *error)
{
    PAWL_TRY(pw_check_workflow(engine, workflow, out_definition, error));
    PAWL_TRY(pw_check_given(id, "id", error));
    return pw_check_instance_id(pw_text_of(id), error);
}

pawl_status pw_check_creatable(const struct pw_definition *definition, struct pawl_error *error)
{
    if (definition->run_inline == NULL)
        return PAWL_OK;
    return pw_error(error, PAWL_INVALID, "workflow \"%s\" is inline and has no instances; call pawl_execute()",
                    definition->name.data);
}

pawl_status pw_check_options(const void *given, void *options, size_t size, struct pawl_error *error)
{
    if (pw_options_copy(options, size, given))
        return PAWL_OK;
    size_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size > size)
        return pw_error(error, PAWL_INVALID,
                        "the options were made with a newer header: their struct_size is %zu, this library knows %zu",
                        given_size, size);
    return pw_error(error, PAWL_INVALID, "the options' struct_size is %zu; begin with their PAWL_..._OPTIONS_INIT",
                    given_size);
}
