/* instances.c - looking: workflows, instances, histories.  The store is read at once, in the calling thread. */
#include "http/answer.h"
#include "http/operations.h"
#include "http/query.h"
#include "http/write.h"

static void write_workflow(struct pw_http_text *out, const struct pawl_workflow_info *workflow)
{
    pw_http_json_open(out, NULL, '{');
    pw_http_json_string(out, "name", workflow->name);
    if (workflow->description != NULL)
        pw_http_json_string(out, "description", workflow->description);
    if (workflow->version != NULL)
        pw_http_json_string(out, "version", workflow->version);
    if (workflow->tag_count > 0) {
        pw_http_json_open(out, "tags", '[');
        for (size_t i = 0; i < workflow->tag_count; i++)
            pw_http_json_string(out, NULL, workflow->tags[i]);
        pw_http_json_close(out, ']');
    }
    if (workflow->permission_count > 0) {
        pw_http_json_open(out, "permissions", '[');
        for (size_t i = 0; i < workflow->permission_count; i++)
            pw_http_json_string(out, NULL, workflow->permissions[i]);
        pw_http_json_close(out, ']');
    }
    pw_http_json_close(out, '}');
}

void pw_http_list_workflows(pawl_http_call *call)
{
    const struct pawl_workflow_info *workflows;
    size_t count;
    pawl_status status = pawl_list_workflows(call->http->engine, call->scope, &workflows, &count);
    if (status != PAWL_OK) {
        pw_http_fail_status(call, status);
        return;
    }
    pw_http_json_open(&call->out, NULL, '{');
    pw_http_json_open(&call->out, "workflows", '[');
    for (size_t i = 0; i < count; i++)
        write_workflow(&call->out, &workflows[i]);
    pw_http_json_close(&call->out, ']');
    pw_http_json_close(&call->out, '}');
    pw_http_answer_json(call, 200);
}

/* ---- Pages of rows --------------------------------------------------------------------------------------------------- */

/* Rows and what is made of them, before the answer is written: a page of 4 MiB, some times over. */
enum { READ_BYTES = 16 * 1024 * 1024 };

/* What a page is read into.  NULL: answered. */
static pawl_scope *begin_page(pawl_http_call *call)
{
    if (!pw_http_call_hold(call, READ_BYTES)) {
        pw_http_fail_over_budget(call);
        return NULL;
    }
    pawl_scope *scope = pawl_scope_new();
    if (scope == NULL)
        pw_http_fail_status(call, PAWL_NOMEM);
    return scope;
}

/* Only the answer is kept until it is sent. */
static void end_page(pawl_http_call *call, pawl_scope *scope)
{
    pawl_scope_free(scope);
    pw_http_call_give_back(call, READ_BYTES);
}

/* Children and runs have no `status` and no `version` to ask for: the routes do not take them. */
static void read_list_options(pawl_http_call *call, struct pawl_list_options *options)
{
    const char *status = pw_http_query(call, "status");
    if (status != NULL) {
        options->has_status = pawl_instance_status_parse(status, &options->status, &call->error) == PAWL_OK;
        if (!options->has_status)
            pw_http_issue(call, "status", "%s", call->error.text);
    }
    pw_http_query_page_size(call, &options->page_size);
    pw_http_query_order(call, &options->order);
    options->cursor = pw_http_query(call, "cursor");
    options->version = pw_http_query(call, "version");
}

static void answer_page(pawl_http_call *call, const char *name, const struct pawl_instance_page *page,
                        void (*write)(struct pw_http_text *out, const struct pawl_instance *instance))
{
    pw_http_json_open(&call->out, NULL, '{');
    pw_http_json_open(&call->out, name, '[');
    for (size_t i = 0; i < page->count; i++)
        write(&call->out, &page->instances[i]);
    pw_http_json_close(&call->out, ']');
    if (page->cursor != NULL)
        pw_http_json_string(&call->out, "cursor", page->cursor);
    pw_http_json_bool(&call->out, "hasNextPage", page->cursor != NULL);
    pw_http_json_close(&call->out, '}');
    pw_http_answer_json(call, 200);
}

void pw_http_list_instances(pawl_http_call *call)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    read_list_options(call, &options);
    if (pw_http_fail_issues(call))
        return;
    pawl_scope *scope = begin_page(call);
    if (scope == NULL)
        return;
    pawl_status status = pawl_list(call->http->engine, scope, call->match.workflow, &options, &page, &call->error);
    if (status == PAWL_OK)
        answer_page(call, "instances", &page, pw_http_write_listed);
    else
        pw_http_fail_status(call, status);
    end_page(call, scope);
}

typedef pawl_status list_of_fn(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                               const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                               struct pawl_error *error);

/* A list that belongs to one instance. */
static void list_of_instance(pawl_http_call *call, list_of_fn *list, const char *name,
                             void (*write)(struct pw_http_text *out, const struct pawl_instance *instance))
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    read_list_options(call, &options);
    if (pw_http_fail_issues(call))
        return;
    pawl_scope *scope = begin_page(call);
    if (scope == NULL)
        return;
    pawl_status status =
        list(call->http->engine, scope, call->match.workflow, call->match.id, &options, &page, &call->error);
    if (status == PAWL_OK)
        answer_page(call, name, &page, write);
    else
        pw_http_fail_status(call, status);
    end_page(call, scope);
}

void pw_http_list_children(pawl_http_call *call)
{
    list_of_instance(call, pawl_list_children, "instances", pw_http_write_child);
}

void pw_http_list_runs(pawl_http_call *call)
{
    list_of_instance(call, pawl_list_runs, "runs", pw_http_write_run);
}

void pw_http_count_instances(pawl_http_call *call)
{
    struct pawl_instance_counts counts;
    pawl_status status = pawl_count(call->http->engine, pw_http_query(call, "workflow"), &counts, &call->error);
    if (status != PAWL_OK) {
        pw_http_fail_status(call, status);
        return;
    }
    pw_http_json_open(&call->out, NULL, '{');
    pw_http_json_open(&call->out, "instances", '{');
    for (size_t of = 0; of < PAWL_INSTANCE_STATUSES; of++) {
        pw_http_json_open(&call->out, pawl_instance_status_name((enum pawl_instance_status)of), '{');
        pw_http_json_integer(&call->out, "count", counts.count[of]);
        pw_http_json_bool(&call->out, "hasMore", counts.has_more[of]);
        pw_http_json_close(&call->out, '}');
    }
    pw_http_json_close(&call->out, '}');
    pw_http_json_close(&call->out, '}');
    pw_http_answer_json(call, 200);
}

void pw_http_get(pawl_http_call *call)
{
    struct pawl_instance instance;
    int64_t run_number = 0;
    (void)pw_http_query_integer(call, "runNumber", 1, INT64_MAX, &run_number);
    if (pw_http_fail_issues(call))
        return;
    pawl_status status = pawl_get_run(call->http->engine, call->scope, call->match.workflow, call->match.id, run_number,
                                      &instance, &call->error);
    if (status != PAWL_OK) {
        pw_http_fail_status(call, status);
        return;
    }
    pw_http_write_with_meta(&call->out, &instance);
    pw_http_answer_json(call, 200);
}

static void read_history_options(pawl_http_call *call, struct pawl_history_options *options)
{
    static const char *const flags[] = { "false", "true", NULL };
    static const char *const levels[] = { "debug", "info", "warn", "error", NULL };
    size_t position;
    (void)pw_http_query_integer(call, "runNumber", 1, INT64_MAX, &options->run_number);
    pw_http_query_page_size(call, &options->page_size);
    pw_http_query_order(call, &options->order);
    options->steps_cursor = pw_http_query(call, "stepsCursor");
    options->events_cursor = pw_http_query(call, "eventsCursor");
    options->logs_cursor = pw_http_query(call, "logsCursor");
    options->log_category = pw_http_query(call, "logCategory");
    if (pw_http_query_word(call, "includeLogs", flags, &position))
        options->include_logs = position == 1;
    options->has_log_level = pw_http_query_word(call, "logLevel", levels, &position);
    if (options->has_log_level)
        options->log_level = (enum pawl_log_level)position;
}

void pw_http_history(pawl_http_call *call)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    read_history_options(call, &options);
    if (pw_http_fail_issues(call))
        return;
    pawl_scope *scope = begin_page(call);
    if (scope == NULL)
        return;
    pawl_status status = pawl_get_history(call->http->engine, scope, call->match.workflow, call->match.id, &options,
                                          &history, &call->error);
    if (status == PAWL_OK) {
        pw_http_write_history(&call->out, &history, options.include_logs);
        pw_http_answer_json(call, 200);
    } else {
        pw_http_fail_status(call, status);
    }
    end_page(call, scope);
}
