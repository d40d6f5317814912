/* instances.c - reads: workflows, instances, runs, children, counts, histories, and why an instance waits.  Each
 * reads the store in the calling thread. */
#include "http/answer.h"
#include "http/operations.h"
#include "http/query.h"
#include "http/write.h"

static void write_texts(struct pw_buffer *out, const char *key, const char *const *texts, size_t count)
{
    if (count == 0)
        return;
    pw_json_open(out, key, '[');
    for (size_t i = 0; i < count; i++)
        pw_json_string(out, NULL, texts[i]);
    pw_json_close(out, ']');
}

static void write_workflow(struct pw_buffer *out, const struct pawl_workflow_info *workflow)
{
    pw_json_open(out, NULL, '{');
    pw_json_string(out, "name", workflow->name);
    pw_json_string_if(out, "description", workflow->description);
    pw_json_string_if(out, "version", workflow->version);
    write_texts(out, "tags", workflow->tags, workflow->tag_count);
    write_texts(out, "permissions", workflow->permissions, workflow->permission_count);
    pw_json_close(out, '}');
}

pawl_status pw_http_list_workflows(pawl_http_call *call)
{
    const struct pawl_workflow_info *workflows;
    size_t count;
    pawl_status status = pawl_list_workflows(call->http->engine, call->scope, &workflows, &count);
    if (status != PAWL_OK)
        return status;
    pw_json_open(&call->out, NULL, '{');
    pw_json_open(&call->out, "workflows", '[');
    for (size_t i = 0; i < count; i++)
        write_workflow(&call->out, &workflows[i]);
    pw_json_close(&call->out, ']');
    return pw_http_answer_object(call, 200);
}

/* ---- Pages of rows --------------------------------------------------------------------------------------------------- */

/* Counted against the memory budget while a page is read: the rows of a page of 4 MiB, and the copies made of them. */
enum { READ_BYTES = 16 * 1024 * 1024 };

typedef pawl_status list_fn(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                            const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                            struct pawl_error *error);
typedef void write_fn(struct pw_buffer *out, const struct pawl_instance *instance);

/* What a page reads and how it is written.  `answer` uses either `history` or the members after it. */
struct page {
    pawl_status (*answer)(pawl_http_call *call, pawl_scope *scope, const struct page *page);
    const struct pawl_history_options *history;
    const struct pawl_list_options *list_options;
    list_fn *list;
    const char *name;
    write_fn *write;
};

/* The rows are freed once the answer is written, so only the answer stays in memory until it is sent. */
static pawl_status answer_page(pawl_http_call *call, const struct page *page)
{
    if (pw_http_fail_issues(call))
        return PAWL_OK;
    if (!pw_http_call_hold(call, READ_BYTES))
        return pw_http_fail_over_budget(call);
    pawl_scope *scope = pawl_scope_new();
    pawl_status status = scope != NULL ? page->answer(call, scope, page) : PAWL_NOMEM;
    pawl_scope_free(scope);
    pw_http_call_give_back(call, READ_BYTES);
    return status;
}

/* Lists of children and runs take neither `status` nor `version`; their routes refuse these keys before. */
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

static pawl_status answer_list(pawl_http_call *call, pawl_scope *scope, const struct page *page)
{
    struct pawl_instance_page found;
    pawl_status status = page->list(call->http->engine, scope, call->match.workflow, call->match.id, page->list_options,
                                    &found, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_json_open(&call->out, NULL, '{');
    pw_json_open(&call->out, page->name, '[');
    for (size_t i = 0; i < found.count; i++)
        page->write(&call->out, &found.instances[i]);
    pw_json_close(&call->out, ']');
    pw_http_write_cursor(&call->out, "cursor", "hasNextPage", found.cursor);
    return pw_http_answer_object(call, 200);
}

static pawl_status list(pawl_http_call *call, list_fn *list_them, const char *name, write_fn *write)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    read_list_options(call, &options);
    return answer_page(call, &(struct page){ answer_list, NULL, &options, list_them, name, write });
}

static pawl_status list_of_workflow(pawl_engine *engine, pawl_scope *scope, const char *workflow, const char *id,
                                    const struct pawl_list_options *options, struct pawl_instance_page *out_page,
                                    struct pawl_error *error)
{
    (void)id;
    return pawl_list(engine, scope, workflow, options, out_page, error);
}

pawl_status pw_http_list_instances(pawl_http_call *call)
{
    return list(call, list_of_workflow, "instances", pw_http_write_listed);
}

pawl_status pw_http_list_children(pawl_http_call *call)
{
    return list(call, pawl_list_children, "instances", pw_http_write_child);
}

pawl_status pw_http_list_runs(pawl_http_call *call)
{
    return list(call, pawl_list_runs, "runs", pw_http_write_run);
}

pawl_status pw_http_count_instances(pawl_http_call *call)
{
    struct pawl_instance_counts counts;
    pawl_status status = pawl_count(call->http->engine, pw_http_query(call, "workflow"), &counts, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_json_open(&call->out, NULL, '{');
    pw_json_open(&call->out, "instances", '{');
    for (size_t of = 0; of < PAWL_INSTANCE_STATUSES; of++) {
        pw_json_open(&call->out, pawl_instance_status_name((enum pawl_instance_status)of), '{');
        pw_json_integer(&call->out, "count", counts.count[of]);
        pw_json_bool(&call->out, "hasMore", counts.has_more[of]);
        pw_json_close(&call->out, '}');
    }
    pw_json_close(&call->out, '}');
    return pw_http_answer_object(call, 200);
}

/* A run number of 0 means the current run. */
pawl_status pw_http_get(pawl_http_call *call)
{
    struct pawl_instance instance;
    int64_t run_number = 0;
    (void)pw_http_query_integer(call, "runNumber", 1, INT64_MAX, &run_number);
    if (pw_http_fail_issues(call))
        return PAWL_OK;
    pawl_status status = pawl_get_run(call->http->engine, call->scope, call->match.workflow, call->match.id, run_number,
                                      &instance, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_http_write_with_meta(&call->out, &instance);
    return pw_http_answer_json(call, 200);
}

static pawl_status answer_why(pawl_http_call *call, pawl_scope *scope, const struct page *page)
{
    struct pawl_why_answer why;
    (void)page;
    pawl_status status = pawl_why(call->http->engine, scope, call->match.workflow, call->match.id, &why, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_http_write_why(&call->out, &why);
    return pw_http_answer_json(call, 200);
}

pawl_status pw_http_why(pawl_http_call *call)
{
    return answer_page(call, &(struct page){ .answer = answer_why });
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

static pawl_status answer_history(pawl_http_call *call, pawl_scope *scope, const struct page *page)
{
    struct pawl_history history;
    pawl_status status = pawl_get_history(call->http->engine, scope, call->match.workflow, call->match.id,
                                          page->history, &history, &call->error);
    if (status != PAWL_OK)
        return status;
    pw_http_write_history(&call->out, &history, page->history->include_logs);
    return pw_http_answer_json(call, 200);
}

pawl_status pw_http_history(pawl_http_call *call)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    read_history_options(call, &options);
    return answer_page(call, &(struct page){ .answer = answer_history, .history = &options });
}
