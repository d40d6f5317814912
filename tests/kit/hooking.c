/* hooking.c - see hooking.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hooking.h"

static void append(char *text, const struct pawl_delivery *delivery)
{
    pawl_scope *scope = pawl_scope_new();
    pawl_value *payload = NULL;
    struct pawl_error error = { PAWL_OK, "" };
    char line[512];
    assert_non_null(scope);
    if (pawl_value_parse(scope, delivery->payload_json, strlen(delivery->payload_json), &payload, &error) != PAWL_OK)
        fail_msg("%s: %s", delivery->payload_json, error.text);
    const char *due_at = pawl_value_string(payload, "dueAt", NULL);
    assert_string_equal(pawl_value_string(payload, "workflowName", ""), delivery->workflow);
    assert_string_equal(pawl_value_string(payload, "instanceId", ""), delivery->instance_id);
    assert_int_equal(pawl_value_int(payload, "runNumber", 0), delivery->run_number);
    (void)snprintf(line, sizeof line, "%s%s/%d %s%s%s%s%s%s", text[0] != '\0' ? ", " : "", delivery->instance_id,
                   (int)delivery->run_number, delivery->event == PAWL_HOOK_FINISHED ? "finished " : "",
                   pawl_value_string(payload, "reason", ""), pawl_value_string(payload, "status", ""),
                   due_at != NULL ? " " : "", due_at != NULL ? due_at : "",
                   pawl_value_kind(payload, "error") != PAWL_KIND_NONE ? " with an error" : "");
    if (strlen(text) + strlen(line) < HOOKING_TEXT)
        strcat(text, line);
    pawl_scope_free(scope);
}

const char *hooking_recorded(pawl_engine *engine, const char *hook)
{
    static char recorded[HOOKING_TEXT];
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page = { .cursor = NULL };
    struct pawl_error error = { PAWL_OK, "" };
    pawl_scope *scope = pawl_scope_new();
    assert_non_null(scope);
    recorded[0] = '\0';
    options.hook = hook;
    options.page_size = 7;
    do {
        options.cursor = page.cursor;
        if (pawl_list_deliveries(engine, scope, &options, &page, &error) != PAWL_OK)
            fail_msg("%s", error.text);
        for (size_t i = 0; i < page.count; i++)
            append(recorded, &page.deliveries[i].delivery);
    } while (page.cursor != NULL);
    pawl_scope_free(scope);
    return recorded;
}

pawl_status hearing_deliver(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    struct hearing *hearing = user;
    hearing->calls++;
    hearing->attempt = delivery->attempt;
    hearing->attempts_max = delivery->attempts_max;
    hearing->created_at_ms = delivery->created_at_ms;
    (void)snprintf(hearing->id, sizeof hearing->id, "%s", delivery->id);
    (void)snprintf(hearing->payload, sizeof hearing->payload, "%s", delivery->payload_json);
    append(hearing->heard, delivery);
    if (hearing->meanwhile != NULL)
        hearing->meanwhile(hearing);
    if (hearing->failures == 0)
        return PAWL_OK;
    hearing->failures--;
    if (hearing->says != NULL)
        (void)snprintf(error->text, sizeof error->text, "%s", hearing->says);
    return hearing->answer;
}

struct pawl_hook hooking_hook(const char *name, struct hearing *hearing)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    hook.name = name;
    hook.events = PAWL_HOOK_ENQUEUED | PAWL_HOOK_FINISHED;
    hook.deliver = hearing != NULL ? hearing_deliver : NULL;
    hook.user = hearing;
    return hook;
}
