/* answers.c - tells the end of an instance to the run that made it; see service.h and answers.h. */
#include "service/answers.h"

#include "base/error.h"
#include "base/limits.h"
#include "service/check.h"
#include "service/service.h"
#include "value/value.h"

/* Concatenates the texts.  False when memory runs out. */
static bool join(struct pw_arena *arena, const struct pw_text *parts, size_t count, struct pw_text *out_text)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    char *text = pw_arena_take(arena, size + 1), *at = text;
    if (text == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }
    *at = '\0';
    *out_text = (struct pw_text){ text, size };
    return true;
}

bool pw_answer_type(struct pw_arena *arena, struct pw_text workflow, struct pw_text id, struct pw_text *out_type)
{
    const struct pw_text parts[] = { pw_text_of("$"), workflow, pw_text_of("/"), id };
    return join(arena, parts, sizeof parts / sizeof parts[0], out_type);
}

/* Copies at most size_max bytes of the text, cut so that they are fit for JSON. */
static bool take_cut(struct pw_arena *arena, struct pw_text text, size_t size_max, struct pw_text *out_text)
{
    return pw_arena_text(arena, text.data != NULL ? pw_text_cut(text, size_max) : pw_text_of(""), out_text);
}

pawl_status pw_answer_failure(struct pw_arena *arena, struct pw_text name, struct pw_text message, bool may_retry,
                              struct pw_text *out_payload)
{
    pawl_value *value;
    struct pw_text text = { NULL, 0 };
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = scope != NULL && take_cut(arena, name, PW_ERROR_NAME_MAX, &name) &&
                                 take_cut(arena, message, PW_ERROR_MESSAGE_MAX, &message)
                             ? PAWL_OK
                             : PAWL_NOMEM;
    if (status == PAWL_OK)
        status = pawl_value_pack(scope, &value, "{s:s, s:s, s:b}", "name", name.data, "message", message.data, "retry",
                                 may_retry);
    if (status == PAWL_OK)
        status = pawl_value_text(scope, value, &text.data, &text.size);
    if (status == PAWL_OK && !pw_arena_text(arena, text, out_payload))
        status = PAWL_NOMEM;
    pawl_scope_free(scope);
    return status;
}

pawl_status pw_outcome_check(const struct pawl_outcome *outcome, int64_t size_max, struct pawl_error *error)
{
    PAWL_TRY(pw_check_given(outcome, "outcome", error));
    if (outcome->error_name == NULL)
        return pw_json_check(pw_text_of(outcome->result_json), size_max, "result", error);
    if (outcome->error_name[0] == '\0')
        return pw_error(error, PAWL_INVALID, "the error's name is empty; say what went wrong, as in \"CardDeclined\"");
    return PAWL_OK;
}

/* The payload says that the child was terminated and with which error, if any. */
static pawl_status describe_termination(struct pw_arena *arena, const struct pw_link *link,
                                        const struct pw_outcome_told *told, struct pw_text *out_payload)
{
    pawl_status why = link->relation == PW_RELATION_JOB ? PAWL_JOB_ENDED : PAWL_CHILD_TERMINATED;
    struct pw_text message = pw_text_of(pawl_status_text(why));
    if (told->error_name.data != NULL) {
        const struct pw_text parts[] = { told->error_name, pw_text_of(": "), told->error_message };
        size_t count = told->error_message.size > 0 ? 3 : 1;
        if (!join(arena, parts, count, &message))
            return PAWL_NOMEM;
    }
    return pw_answer_failure(arena, pw_text_of(pawl_status_name(why)), message, false, out_payload);
}

static pawl_status describe(struct pw_arena *arena, const struct pw_link *link, const struct pw_outcome_told *told,
                            struct pw_text *out_payload)
{
    if (told->outcome == PW_OUTCOME_COMPLETE) {
        *out_payload = told->output;
        return PAWL_OK;
    }
    if (told->outcome == PW_OUTCOME_TERMINATED)
        return describe_termination(arena, link, told, out_payload);
    return pw_answer_failure(arena, told->error_name, told->error_message, told->may_retry, out_payload);
}

pawl_status pw_service_answer(pawl_engine *engine, struct pw_arena *arena, const struct pw_link *link,
                              struct pw_text workflow, struct pw_text id, const struct pw_outcome_told *told,
                              struct pw_op_event **out_answer)
{
    *out_answer = NULL;
    if (link->parent == 0 || link->relation == PW_RELATION_NONE) /* no run can wait for it */
        return PAWL_OK;
    struct pw_op_event *answer = pw_arena_zero(arena, sizeof *answer);
    if (answer == NULL || !pw_answer_type(arena, workflow, id, &answer->type))
        return PAWL_NOMEM;
    answer->instance = link->parent;
    answer->is_failure = told->outcome != PW_OUTCOME_COMPLETE;
    PAWL_TRY(describe(arena, link, told, &answer->payload));
    answer->offer = pw_local_offer(engine);
    *out_answer = answer;
    return PAWL_OK;
}
