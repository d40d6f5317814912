/* metrics.c - see metrics.h.  Routes without requests have no series. */
#include "http/metrics.h"

#include "http/handler.h"
#include "pawl/pawl.h"

/* Lists of labels end with one without a name. */
struct label {
    const char *name, *value;
};
static const struct label none[] = { { NULL, NULL } };

/* ---- The format ------------------------------------------------------------------------------------------------ */

/* Starts a family.  Its help and type precede its samples. */
static void add_family(struct pw_buffer *out, const char *name, const char *type, const char *help)
{
    pw_buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void pw_http_metrics_label(struct pw_buffer *out, char before, const char *name, const char *value)
{
    pw_buffer_add(out, &before, 1);
    pw_buffer_put(out, name);
    pw_buffer_put(out, "=\"");
    for (; *value != '\0'; value++) {
        if (*value == '\\' || *value == '"' || *value == '\n')
            pw_buffer_add(out, "\\", 1);
        pw_buffer_add(out, *value == '\n' ? "n" : value, 1);
    }
    pw_buffer_add(out, "\"", 1);
}

/* Writes a sample up to its value. le may be NULL. */
static void add_name(struct pw_buffer *out, const char *name, const char *suffix, const struct label *labels,
                     const char *le)
{
    char before = '{';
    pw_buffer_put(out, name);
    pw_buffer_put(out, suffix);
    for (; labels->name != NULL; labels++, before = ',')
        pw_http_metrics_label(out, before, labels->name, labels->value);
    if (le != NULL)
        pw_http_metrics_label(out, before, "le", le);
    pw_buffer_put(out, before == ',' || le != NULL ? "} " : " ");
}

static void add_integer(struct pw_buffer *out, const char *name, const char *suffix, const struct label *labels,
                        const char *le, int64_t value)
{
    add_name(out, name, suffix, labels, le);
    pw_buffer_integer(out, value);
    pw_buffer_add(out, "\n", 1);
}

/* Writes up to nanoseconds, without trailing zeros, and with a point whatever the host's locale is.  The value is
 * not negative. */
static void add_decimal(struct pw_buffer *out, double value)
{
    int64_t whole = (int64_t)value;
    int64_t rest = (int64_t)((value - (double)whole) * 1e9 + 0.5);
    char digits[] = ".000000000";
    if (rest >= 1000000000) {
        whole++;
        rest = 0;
    }
    size_t size = rest == 0 ? 0 : sizeof digits - 1;
    for (size_t at = sizeof digits - 2; at > 0; at--, rest /= 10) {
        digits[at] = (char)('0' + rest % 10);
        if (size == at + 1 && digits[at] == '0')
            size--;
    }
    pw_buffer_integer(out, whole);
    pw_buffer_add(out, digits, size);
}

static void add_figure(struct pw_buffer *out, const char *name, const char *suffix, const struct label *labels,
                       double value)
{
    add_name(out, name, suffix, labels, NULL);
    add_decimal(out, value);
    pw_buffer_add(out, "\n", 1);
}

static void add_histogram(struct pw_buffer *out, const char *name, const struct label *labels,
                          const struct pawl_distribution *distribution)
{
    struct pw_buffer limit = { 0 };
    int64_t total = 0;
    for (size_t i = 0; i + 1 < distribution->class_count; i++) {
        total += distribution->counts[i];
        pw_buffer_reset(&limit);
        add_decimal(&limit, distribution->limits[i]);
        out->failed = out->failed || limit.failed;
        if (!out->failed)
            add_integer(out, name, "_bucket", labels, limit.data, total);
    }
    if (distribution->class_count > 0)
        total += distribution->counts[distribution->class_count - 1];
    add_integer(out, name, "_bucket", labels, "+Inf", total);
    add_figure(out, name, "_sum", labels, distribution->sum);
    add_integer(out, name, "_count", labels, NULL, total);
    pw_buffer_clear(&limit);
}

/* A family of one sample without labels. */
static void add_single(struct pw_buffer *out, const char *name, const char *type, const char *help, int64_t value)
{
    add_family(out, name, type, help);
    add_integer(out, name, "", none, NULL, value);
}

static void add_single_histogram(struct pw_buffer *out, const char *name, const char *help,
                                 const struct pawl_distribution *distribution)
{
    add_family(out, name, "histogram", help);
    add_histogram(out, name, none, distribution);
}

static void add_labelled(struct pw_buffer *out, const char *name, const char *label, const char *word, int64_t value)
{
    const struct label labels[] = { { label, word }, { NULL, NULL } };
    add_integer(out, name, "", labels, NULL, value);
}

/* ---- What is told ------------------------------------------------------------------------------------------------ */

static void add_build(struct pw_buffer *out)
{
    add_family(out, "pawl_build_info", "gauge", "The version as a label; always 1.");
    add_labelled(out, "pawl_build_info", "version", pawl_version(), 1);
}

static void add_engine(struct pw_buffer *out, const struct pawl_stats *stats)
{
    add_single(out, "pawl_runs_created_total", "counter", "Runs created; a restart is a new run.", stats->runs_created);
    add_family(out, "pawl_runs_finished_total", "counter", "Runs finished, by status.");
    add_labelled(out, "pawl_runs_finished_total", "status", "complete", stats->runs_complete);
    add_labelled(out, "pawl_runs_finished_total", "status", "errored", stats->runs_errored);
    add_labelled(out, "pawl_runs_finished_total", "status", "terminated", stats->runs_terminated);
    add_single_histogram(out, "pawl_run_duration_seconds", "Time from a run's first turn to its end.",
                         &stats->run_seconds);
    add_family(out, "pawl_steps_finished_total", "counter", "Steps finished for good, by status.");
    add_labelled(out, "pawl_steps_finished_total", "status", "completed", stats->steps_completed);
    add_labelled(out, "pawl_steps_finished_total", "status", "errored", stats->steps_errored);
    add_single(out, "pawl_step_attempts_failed_total", "counter", "Failed attempts that are retried.",
               stats->attempts_failed);
    add_single_histogram(out, "pawl_step_body_duration_seconds", "How long step bodies ran.", &stats->body_seconds);
    add_single(out, "pawl_events_sent_total", "counter", "Events sent to instances.", stats->events_sent);
    add_single(out, "pawl_leases_lost_total", "counter", "Turns that found their lease gone.", stats->leases_lost);
    add_family(out, "pawl_commits_total", "counter", "Transactions on the store, by result.");
    add_labelled(out, "pawl_commits_total", "result", "done", stats->commits);
    add_labelled(out, "pawl_commits_total", "result", "failed", stats->commits_failed);
    add_single_histogram(out, "pawl_commit_units", "Units of work in one transaction.", &stats->units);
    add_single_histogram(out, "pawl_commit_duration_seconds", "How long transactions took.", &stats->commit_seconds);
}

static void add_memory(struct pw_buffer *out, const struct pawl_stats *stats)
{
    add_single(out, "pawl_memory_budget_bytes", "gauge", "Maximum memory for requests, answers and histories.",
               stats->memory_bytes_max);
    add_single(out, "pawl_memory_held_bytes", "gauge", "Memory of that budget in use.", stats->memory_bytes_held);
    add_single(out, "pawl_memory_refusals_total", "counter", "Requests for memory that the budget refused.",
               stats->memory_refusals);
}

static void add_store(struct pw_buffer *out, pawl_engine *engine, bool asks_store)
{
    struct pawl_backlog backlog = { .struct_size = sizeof backlog };
    bool is_up = asks_store && pawl_backlog_read(engine, &backlog, NULL) == PAWL_OK;
    add_single(out, "pawl_store_up", "gauge", "Whether the store could be read for the metrics below.", is_up);
    if (!is_up)
        return;
    add_family(out, "pawl_instances", "gauge", "Unfinished instances in the store, by status.");
    add_labelled(out, "pawl_instances", "status", "active", backlog.active);
    add_labelled(out, "pawl_instances", "status", "waiting", backlog.waiting);
    add_labelled(out, "pawl_instances", "status", "paused", backlog.paused);
    add_single(out, "pawl_queue_depth", "gauge", "Runs that are due and not being worked on.", backlog.due);
    add_family(out, "pawl_hook_deliveries", "gauge", "Deliveries of hooks that are pending or have failed for good.");
    add_labelled(out, "pawl_hook_deliveries", "status", "pending", backlog.deliveries_pending);
    add_labelled(out, "pawl_hook_deliveries", "status", "failed", backlog.deliveries_failed);
    int64_t age_ms = backlog.due > 0 ? pawl_now_ms(engine) - backlog.oldest_due_at_ms : 0;
    add_family(out, "pawl_queue_oldest_age_seconds", "gauge", "How long the oldest due run has been due.");
    add_figure(out, "pawl_queue_oldest_age_seconds", "", none, age_ms > 0 ? (double)age_ms / 1000 : 0);
}

/* Left out if the store cannot be read. */
static void add_runners(struct pw_buffer *out, pawl_engine *engine)
{
    const struct pawl_runner_info *runners;
    size_t count;
    pawl_scope *scope = pawl_scope_new();
    if (scope != NULL && pawl_list_runners(engine, scope, &runners, &count, NULL) == PAWL_OK)
        add_single(out, "pawl_runners", "gauge", "Live runners on the store, on all machines.", (int64_t)count);
    pawl_scope_free(scope);
}

static void add_runner(struct pw_buffer *out, pawl_runner *runner)
{
    struct pawl_runner_stats stats;
    pawl_runner_stats_read(runner, &stats);
    add_single(out, "pawl_runner_turns_total", "counter", "Turns taken by this process's runner.", stats.turns);
    add_single(out, "pawl_runner_in_flight", "gauge", "Runs that this process's runner holds now.", stats.in_flight);
    add_single(out, "pawl_runner_cached_bytes", "gauge", "Memory that the runner uses to cache recent runs.",
               stats.cached_bytes);
    add_single(out, "pawl_runner_threads_blocked", "gauge", "Threads blocked now by calls that do not return.",
               stats.threads_blocked);
    add_family(out, "pawl_runner_calls_blocked_total", "counter",
               "Calls that did not return in time: workflow code outside a step, and bodies past their timeout.");
    add_labelled(out, "pawl_runner_calls_blocked_total", "of", "workflow", stats.code_blocked);
    add_labelled(out, "pawl_runner_calls_blocked_total", "of", "step", stats.bodies_blocked);
}

/* ---- This handler ------------------------------------------------------------------------------------------------ */

static void add_responses(struct pw_buffer *out, const struct pw_http_figures *figures)
{
    static const char *const classes[PW_HTTP_STATUS_CLASSES] = { "0xx", "1xx", "2xx", "3xx", "4xx", "5xx" };
    for (size_t i = 0; i < PW_HTTP_STATUS_CLASSES; i++) {
        const struct label labels[] = {
            { "method", figures->method }, { "route", figures->pattern }, { "status", classes[i] }, { NULL, NULL }
        };
        if (figures->responses[i] > 0)
            add_integer(out, "pawl_http_requests_total", "", labels, NULL, figures->responses[i]);
    }
}

static void add_durations(struct pw_buffer *out, const struct pw_http_figures *figures)
{
    const struct label labels[] = { { "method", figures->method }, { "route", figures->pattern }, { NULL, NULL } };
    int64_t total = 0;
    for (size_t i = 0; i < figures->seconds.class_count; i++)
        total += figures->seconds.counts[i];
    if (total > 0)
        add_histogram(out, "pawl_http_request_duration_seconds", labels, &figures->seconds);
}

static void add_requests(struct pw_buffer *out, pawl_http *http)
{
    struct pw_http_figures figures;
    add_single(out, "pawl_http_streams", "gauge", "Streams open now.", pw_http_streams_open(http));
    add_single(out, "pawl_http_idle_closed_total", "counter", "Idle connections closed to make room for new ones.",
               atomic_load(&http->idle_closed));
    add_family(out, "pawl_http_requests_total", "counter", "Requests answered, by route and class of status.");
    for (size_t i = 0; i < pw_http_figures_count(); i++) {
        pw_http_figures_read(http, i, &figures);
        add_responses(out, &figures);
    }
    add_family(out, "pawl_http_request_duration_seconds", "histogram",
               "Time from taking up a request to its answer, or to a stream's head.");
    for (size_t i = 0; i < pw_http_figures_count(); i++) {
        pw_http_figures_read(http, i, &figures);
        add_durations(out, &figures);
    }
}

pawl_status pw_http_write_metrics(pawl_http *http, bool asks_store, struct pw_buffer *out)
{
    struct pawl_stats stats = { .struct_size = sizeof stats };
    pawl_stats_read(http->engine, &stats);
    add_build(out);
    add_engine(out, &stats);
    add_memory(out, &stats);
    add_store(out, http->engine, asks_store);
    if (asks_store)
        add_runners(out, http->engine);
    if (http->options.runner != NULL)
        add_runner(out, http->options.runner);
    add_requests(out, http);
    return out->failed ? PAWL_NOMEM : PAWL_OK;
}
