/* daemon.c - see daemon.h.
 *
 * The main thread starts everything and then only waits for signals (serve()).  Once a second it looks for what the
 * library knows but does not log: failed commits, blocked calls, a newer schema.  A drain runs in a thread of its
 * own, so that the main thread can still take a second signal. */
#include "daemon.h"

#include <curl/curl.h>
#include <errno.h>
#include <pawl/hooks.h>
#include <pawl/pawl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "address.h"
#include "blocked.h"
#include "common/thread.h"
#include "log.h"
#include "memory.h"
#include "notify.h"
#include "patience.h"
#include "guard.h"
#include "problem.h"
#include "signals.h"
#include "tokens.h"
#include "webhook.h"

/* A signal within SAME_SIGNAL_MS of the first is the same one, because timeout(1) and others signal both the process
 * and its group. */
enum { SERVERS_MAX = 16, SAME_SIGNAL_MS = 100, LOOK_MS = 1000, TROUBLE_MS = 10000 };

/* What was logged about failed commits. */
struct trouble {
    int64_t told, quiet_until_ms;
    bool is_on;         /* commits fail, as far as is known */
    int64_t began_ms;   /* when the first failure was seen */
    int64_t seen, done; /* at the last look: how many commits had failed and how many had not */
    bool is_unreadable; /* "the store cannot be read" was logged */
};

struct daemon {
    const struct settings *settings;
    struct log log;
    pawl_engine *engine;
    pawl_runner *runner; /* started, unless workers is 0 */
    pawl_runner *ticker; /* for ticks, if the runner is started; or NULL */
    pawl_courier *courier;
    pawl_tokens *tokens; /* NULL: everybody on this machine is allowed */
    struct guard guard;  /* decides if there are no tokens */
    struct pw_address addresses[SERVERS_MAX];
    const char *hosts[SERVERS_MAX]; /* the hosts of `addresses` */
    pawl_http *http;
    pawl_http_server *servers[SERVERS_MAX];
    size_t server_count;
    struct webhook webhooks[WEBHOOKS_MAX];
    int drained_fd; /* an eventfd, written when the drain is done */
};

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static void tell_migration(void *user, const char *text)
{
    log_line(&((struct daemon *)user)->log, PAWL_LOG_INFO, "%s", text);
}

static pawl_status open_store(struct daemon *daemon, struct pawl_error *error)
{
    const struct settings *settings = daemon->settings;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_error why = { PAWL_OK, "" };
    options.store_url = settings->store;
    options.limits.steps_max = settings->steps;
    options.limits.waits_max = settings->waits;
    options.limits.payload_bytes_max = settings->payload_bytes;
    options.limits.unread_events_max = settings->unread_events;
    options.memory_bytes_max = settings->memory_bytes;
    options.migrating = tell_migration;
    options.migrating_user = daemon;
    struct patience patience;
    patience_begin(
        &patience, &daemon->log,
        "store %s is not open yet: it does not answer, is locked, or its tables are being made; waiting for it, "
        "up to 10 s unless its URL says otherwise (pawl_busy_ms=, or busy_ms= for SQLite)",
        settings->shown_store);
    pawl_status status = pawl_open(&options, &daemon->engine, &why); /* logs nothing while it waits */
    patience_end(&patience);
    if (status != PAWL_OK)
        return problem(error, status, "store %.200s: %.280s", settings->shown_store,
                       why.text[0] != '\0' ? why.text : pawl_status_text(status));
    if (pawl_store_warning(daemon->engine) != NULL)
        log_line(&daemon->log, PAWL_LOG_WARN, "store %s: %s", settings->shown_store,
                 pawl_store_warning(daemon->engine));
    return PAWL_OK;
}

/* pawl_load_module() or pawl_load_functions(). */
typedef pawl_status load_fn(pawl_engine *engine, const char *path, struct pawl_error *error);

/* A path without a slash would make the loader search the system's libraries. */
static pawl_status load_module(struct daemon *daemon, const char *given, load_fn *load, struct pawl_error *error)
{
    struct pawl_error why = { PAWL_OK, "" };
    const char *path = strchr(given, '/') != NULL ? given : pawl_scope_format(daemon->settings->scope, "./%s", given);
    if (path == NULL)
        return problem(error, PAWL_NOMEM, "out of memory");
    if (access(path, R_OK) != 0)
        return problem(error, PAWL_MODULE_INVALID, "module %.300s: %s", given, strerror(errno));
    pawl_status status = load(daemon->engine, path, &why);
    return status == PAWL_OK ? PAWL_OK : problem(error, PAWL_MODULE_INVALID, "module %.150s: %.340s", given, why.text);
}

static pawl_status load_all(struct daemon *daemon, struct pawl_error *error)
{
    const struct settings *settings = daemon->settings;
    for (size_t i = 0; i < settings->modules.count; i++)
        PAWL_TRY(load_module(daemon, settings->modules.items[i], pawl_load_module, error));
    for (size_t i = 0; i < settings->worker_modules.count; i++)
        PAWL_TRY(load_module(daemon, settings->worker_modules.items[i], pawl_load_functions, error));
    for (size_t i = 0; i < settings->function_count; i++) {
        const struct function_settings *function = &settings->functions[i];
        struct pawl_error why = { PAWL_OK, "" };
        pawl_status status = pawl_limit_function(daemon->engine, function->name, (int32_t)function->concurrency, &why);
        if (status != PAWL_OK)
            return problem(error, status, "functions: %.400s", why.text);
    }
    if (settings->webhook_count > 0 && curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return problem(error, PAWL_NOMEM, "libcurl, which webhooks need, cannot be used");
    for (size_t i = 0; i < settings->webhook_count; i++)
        PAWL_TRY(webhook_register(&daemon->webhooks[i], &settings->webhooks[i], &daemon->log, daemon->engine, error));
    return PAWL_OK;
}

/* ---- Who may ----------------------------------------------------------------------------------------------------- */

static const char *listen_at(const struct settings *settings, size_t position)
{
    return settings->listen.count > 0 ? settings->listen.items[position] : ADDRESS_DEFAULT;
}

static size_t listen_count(const struct settings *settings)
{
    return settings->listen.count > 0 ? settings->listen.count : 1;
}

/* Without tokens pawld only listens where other machines cannot reach it. */
static pawl_status load_tokens(struct daemon *daemon, struct pawl_error *error)
{
    const struct settings *settings = daemon->settings;
    PAWL_TRY(tokens_load(settings, &daemon->tokens, error));
    daemon->guard = (struct guard){ .hosts = daemon->hosts, .cors = settings->cors };
    for (size_t i = 0; daemon->tokens == NULL && i < listen_count(settings); i++) {
        struct pw_address *address = &daemon->addresses[i];
        PAWL_TRY(address_parse(listen_at(settings, i), address, error));
        daemon->hosts[daemon->guard.host_count++] = address->host;
        if (!address_is_local(address))
            return problem(error, PAWL_INVALID,
                           "will not listen on %.200s without tokens: everybody could use it.  Make one with `pawld "
                           "token new` and pass --tokens FILE, or listen on 127.0.0.1",
                           listen_at(settings, i));
    }
    return PAWL_OK;
}

static void warn_of_pages(const struct daemon *daemon)
{
    const char *cors = daemon->settings->cors;
    if (daemon->tokens == NULL && cors != NULL)
        log_line(&daemon->log, PAWL_LOG_WARN,
                 "without tokens every page of %s that a person on this machine opens can use the API", cors);
}

static void warn_of_key(const struct daemon *daemon)
{
    const char *key = daemon->settings->tls_key;
    struct stat found;
    if (daemon->settings->tls_allow_readable_key && key != NULL && stat(key, &found) == 0 &&
        (found.st_mode & S_IROTH) != 0)
        log_line(&daemon->log, PAWL_LOG_WARN, "everybody on this machine can read the key %s", key);
}

/* The log line contains neither the token nor the path, because both may be secret. */
static bool authorize(void *user, const struct pawl_http_subject *subject, struct pawl_http_refusal *out_refusal)
{
    struct daemon *daemon = user;
    bool may = daemon->tokens != NULL ? pawl_tokens_authorize(daemon->tokens, subject, out_refusal)
                                      : guard_allows(&daemon->guard, subject, out_refusal);
    if (may)
        return true;
    const struct log_field fields[] = { { "code", out_refusal->code },
                                        { "scope", pawl_http_scope_name(subject->scope) },
                                        { "workflow", subject->workflow },
                                        { "peer", subject->request->peer } };
    log_fields(&daemon->log, PAWL_LOG_DEBUG, fields, sizeof fields / sizeof fields[0], "request refused: %s",
               out_refusal->message);
    return false;
}

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

/* A runner is either started or ticked, so ticks need a second one. */
static pawl_status open_runners(struct daemon *daemon, struct pawl_error *error)
{
    const struct settings *settings = daemon->settings;
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    options.workers = (int32_t)settings->workers;
    options.in_flight_max = (int32_t)settings->in_flight;
    options.code_ms_max = settings->code_ms;
    options.blocked_max = (int32_t)settings->blocked_threads;
    PAWL_TRY(pawl_runner_open(daemon->engine, &options, &daemon->runner, error));
    bool needs_ticker = settings->allow_tick && settings->workers > 0;
    return needs_ticker ? pawl_runner_open(daemon->engine, &options, &daemon->ticker, error) : PAWL_OK;
}

static pawl_status open_handler(struct daemon *daemon, struct pawl_error *error)
{
    const struct settings *settings = daemon->settings;
    struct pawl_http_options options = PAWL_HTTP_OPTIONS_INIT;
    options.mount = settings->mount;
    options.runner = daemon->runner;
    options.tick_runner = daemon->ticker;
    options.allow_tick = settings->allow_tick;
    options.authorize = authorize;
    options.authorize_user = daemon;
    options.cors_origin = settings->cors;
    options.body_bytes_max = settings->body_bytes;
    options.wait_ms_max = settings->wait_ms;
    options.streams_max = (int32_t)settings->streams;
    return pawl_http_new(daemon->engine, &options, &daemon->http, error);
}

static pawl_status start_server(struct daemon *daemon, const char *listen, struct pawl_error *error)
{
    const struct settings *settings = daemon->settings;
    struct pawl_http_server_options options = PAWL_HTTP_SERVER_OPTIONS_INIT;
    struct pw_address address;
    PAWL_TRY(address_parse(listen, &address, error));
    options.listen = listen;
    options.tls_cert = address.path != NULL ? NULL : settings->tls_cert; /* a Unix socket needs no TLS */
    options.tls_key = address.path != NULL ? NULL : settings->tls_key;
    options.tls_allow_readable_key = settings->tls_allow_readable_key;
    options.threads = (int32_t)settings->threads;
    options.connections_max = (int32_t)settings->connections;
    options.request_ms_max = settings->request_ms;
    options.idle_ms_max = settings->idle_ms;
    options.header_bytes_max = settings->header_bytes;
    PAWL_TRY(pawl_http_server_start(daemon->http, &options, &daemon->servers[daemon->server_count], error));
    daemon->server_count++;
    return PAWL_OK;
}

static pawl_status start_all(struct daemon *daemon, struct pawl_error *error)
{
    const struct settings *settings = daemon->settings;
    warn_of_pages(daemon);
    warn_of_key(daemon);
    for (size_t i = 0; i < listen_count(settings); i++)
        PAWL_TRY(start_server(daemon, listen_at(settings, i), error));
    if (settings->workers > 0)
        PAWL_TRY(pawl_runner_start(daemon->runner, error));
    if (settings->webhook_count == 0)
        return PAWL_OK;
    return pawl_courier_start(daemon->engine, (int32_t)settings->webhook_parallelism, &daemon->courier, error);
}

/* Each connection takes a descriptor, and the usual soft limit is too low for that. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit); /* the server adapts its connections to the limit */
}

static pawl_status start(struct daemon *daemon, struct pawl_error *error)
{
    raise_descriptors();
    daemon->drained_fd = eventfd(0, EFD_CLOEXEC);
    if (daemon->drained_fd < 0)
        return problem(error, PAWL_NOMEM, "no more descriptors: %s", strerror(errno));
    PAWL_TRY(open_store(daemon, error));
    PAWL_TRY(load_all(daemon, error));
    PAWL_TRY(load_tokens(daemon, error));
    PAWL_TRY(open_runners(daemon, error));
    PAWL_TRY(open_handler(daemon, error));
    /* The settings are right by now.  What fails from here on is the machine's state: a taken port, a missing host or
     * certificate. */
    pawl_status status = start_all(daemon, error);
    return status == PAWL_INVALID ? PAWL_FAILED : status;
}

/* ---- Telling where ----------------------------------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *separator, const char *more)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s", used > 0 ? separator : "", more);
}

static void write_addresses(const struct daemon *daemon, char *out_text, size_t size)
{
    const struct settings *settings = daemon->settings;
    for (size_t i = 0; i < daemon->server_count; i++) {
        const char *listen = listen_at(settings, i);
        struct pw_address address;
        struct pawl_error unused;
        char shown[512];
        if (address_parse(listen, &address, &unused) != PAWL_OK)
            continue;
        bool is_six = strchr(address.host, ':') != NULL;
        if (address.path != NULL)
            (void)snprintf(shown, sizeof shown, "%s", listen);
        else
            (void)snprintf(shown, sizeof shown, "%s://%s%s%s:%d%s", settings->tls_cert != NULL ? "https" : "http",
                           is_six ? "[" : "", address.host[0] != '\0' ? address.host : "0.0.0.0", is_six ? "]" : "",
                           pawl_http_server_port(daemon->servers[i]), settings->mount);
        append(out_text, size, " and ", shown);
    }
}

static size_t write_workflows(const struct daemon *daemon, char *out_text, size_t size)
{
    const struct pawl_workflow_info *workflows;
    size_t count = 0;
    pawl_scope *scope = pawl_scope_new();
    if (scope == NULL || pawl_list_workflows(daemon->engine, scope, &workflows, &count) != PAWL_OK)
        count = 0;
    for (size_t i = 0; i < count; i++)
        append(out_text, size, ", ", workflows[i].name);
    pawl_scope_free(scope);
    return count;
}

static void tell_start(const struct daemon *daemon)
{
    char addresses[1024] = "", workflows[600] = "", workers[600] = "";
    write_addresses(daemon, addresses, sizeof addresses);
    size_t count = write_workflows(daemon, workflows, sizeof workflows);
    const struct pw_texts *modules = &daemon->settings->worker_modules;
    for (size_t i = 0; i < modules->count; i++)
        append(workers, sizeof workers, ", ", modules->items[i]);
    log_line(&daemon->log, PAWL_LOG_INFO, "pawld %s listening on %s, store %s, %zu workflow%s%s%s%s%s%s",
             pawl_version(), addresses, daemon->settings->shown_store, count, count == 1 ? "" : "s",
             count > 0 ? " (" : "", workflows, count > 0 ? ")" : "", workers[0] != '\0' ? ", worker of " : "", workers);
}

/* ---- Stopping ---------------------------------------------------------------------------------------------------- */

static void *stop_runner(void *user)
{
    pawl_runner_stop(((struct daemon *)user)->runner);
    return NULL;
}

/* Slow clients get three quarters of the drain time, for all listeners together, so that the rest can still stop
 * cleanly. */
static void stop_servers(struct daemon *daemon)
{
    const int64_t limit_ms = daemon->settings->drain_ms > 0 ? daemon->settings->drain_ms / 4 * 3 : INT32_MAX;
    const int64_t end_ms = pw_monotonic_ms() + limit_ms;
    for (size_t i = 0; i < daemon->server_count; i++) {
        int64_t left_ms = end_ms - pw_monotonic_ms();
        pawl_http_server_stop(daemon->servers[i], left_ms > 0 ? left_ms : 0);
    }
    daemon->server_count = 0;
}

/* The runner stops claiming at once, while the servers still answer requests. */
static void *drain(void *user)
{
    struct daemon *daemon = user;
    pthread_t stopper;
    pawl_http_drain(daemon->http);
    bool apart = pthread_create(&stopper, NULL, stop_runner, daemon) == 0;
    stop_servers(daemon);
    if (apart)
        (void)pthread_join(stopper, NULL);
    else
        (void)stop_runner(daemon);
    pawl_courier_stop(daemon->courier);
    daemon->courier = NULL;
    (void)eventfd_write(daemon->drained_fd, 1);
    return NULL;
}

static void close_all(struct daemon *daemon)
{
    stop_servers(daemon);
    pawl_courier_stop(daemon->courier);
    pawl_http_free(daemon->http);
    pawl_runner_close(daemon->ticker);
    pawl_runner_close(daemon->runner);
    pawl_close(daemon->engine);
    pawl_tokens_free(daemon->tokens);
    if (daemon->drained_fd >= 0)
        (void)close(daemon->drained_fd);
    if (daemon->settings->webhook_count > 0)
        curl_global_cleanup();
}

/* Waits for a signal and returns its number.  Returns 0 if `other` becomes readable, and -1 after limit_ms (0: no
 * limit).  Signals within the first deaf_ms are dropped. */
static int await_signal(int signal_fd, int other, int64_t deaf_ms, int64_t limit_ms)
{
    struct pollfd watched[] = { { signal_fd, POLLIN, 0 }, { other, POLLIN, 0 } };
    for (int64_t began_ms = pw_monotonic_ms();;) {
        int64_t left_ms = limit_ms > 0 ? began_ms + limit_ms - pw_monotonic_ms() : -1;
        if (limit_ms > 0 && left_ms <= 0)
            return -1;
        (void)poll(watched, 2, (int)left_ms);
        int number = signals_next(signal_fd);
        if (number != 0 && pw_monotonic_ms() - began_ms >= deaf_ms)
            return number;
        if ((watched[1].revents & POLLIN) != 0)
            return 0;
    }
}

/* Ends the process without touching what other threads hold. */
static _Noreturn void stop_at_once(const struct daemon *daemon, int number)
{
    if (number > 0)
        log_line(&daemon->log, PAWL_LOG_WARN, "%s again: stopping at once; what is under way will run again",
                 signals_name(number));
    else
        log_line(&daemon->log, PAWL_LOG_ERROR,
                 "still busy after %lld ms: stopping at once; what is under way will run again",
                 (long long)daemon->settings->drain_ms);
    log_flush(&daemon->log);
    _exit(number > 0 ? 128 + number : EXIT_BROKEN);
}

/* Successful commits alone prove nothing, because those of an idle runner write nothing. */
static bool is_well_again(struct daemon *daemon, const struct trouble *trouble, const struct pawl_stats *stats)
{
    return stats->commits_failed == trouble->seen && stats->commits > trouble->done &&
           pawl_check_writable(daemon->engine, NULL) == PAWL_OK;
}

static void tell_trouble(struct daemon *daemon, struct trouble *trouble, const struct pawl_stats *stats, int64_t now_ms)
{
    if (stats->commits_failed == trouble->told || now_ms < trouble->quiet_until_ms)
        return;
    log_line(&daemon->log, PAWL_LOG_ERROR, "%lld commits failed: %s; requests that write are answered 503 meanwhile",
             (long long)(stats->commits_failed - trouble->told), pawl_status_text(stats->last_commit_failure));
    trouble->told = stats->commits_failed;
    trouble->quiet_until_ms = now_ms + TROUBLE_MS;
}

/* A deleted or replaced database file can still be written, so no commit fails.  Only reading notices it.  A store
 * on a server is not read here, because one that does not answer would keep the main thread from its signals. */
static void look_at_files(struct daemon *daemon, struct trouble *trouble)
{
    struct pawl_delivery_list_options options = PAWL_DELIVERY_LIST_OPTIONS_INIT;
    struct pawl_delivery_page page;
    struct pawl_error why = { PAWL_OK, "" };
    if (strncmp(daemon->settings->store, "sqlite:", strlen("sqlite:")) != 0)
        return;
    pawl_scope *scope = pawl_scope_new();
    options.page_size = 1;
    bool is_unreadable =
        scope != NULL && pawl_list_deliveries(daemon->engine, scope, &options, &page, &why) == PAWL_STORE_UNAVAILABLE;
    pawl_scope_free(scope);
    if (is_unreadable && !trouble->is_unreadable)
        log_line(&daemon->log, PAWL_LOG_ERROR, "the store cannot be read: %s", why.text);
    else if (!is_unreadable && trouble->is_unreadable)
        log_line(&daemon->log, PAWL_LOG_INFO, "the store can be read again");
    trouble->is_unreadable = is_unreadable;
}

/* The library logs nothing, so this logs when commits begin to fail, again every TROUBLE_MS, and when they succeed
 * again. */
static void look_for_trouble(struct daemon *daemon, struct trouble *trouble)
{
    struct pawl_stats stats = { .struct_size = sizeof stats };
    int64_t now_ms = pw_monotonic_ms();
    look_at_files(daemon, trouble);
    pawl_stats_read(daemon->engine, &stats);
    tell_trouble(daemon, trouble, &stats, now_ms);
    if (!trouble->is_on && stats.commits_failed > trouble->seen) {
        trouble->is_on = true;
        trouble->began_ms = now_ms;
        trouble->done = stats.commits;
    } else if (trouble->is_on && is_well_again(daemon, trouble, &stats)) {
        trouble->is_on = false;
        trouble->told = stats.commits_failed;
        trouble->quiet_until_ms = 0;
        log_line(&daemon->log, PAWL_LOG_INFO, "the store is back, after %lld s: commits succeed again",
                 (long long)((now_ms - trouble->began_ms + 999) / 1000));
    } else if (stats.commits_failed > trouble->seen) {
        trouble->done = stats.commits;
    }
    trouble->seen = stats.commits_failed;
}

/* A started runner checks the schema's version by itself; this logs what it found. */
static void look_at_schema(struct daemon *daemon, bool *is_told)
{
    struct pawl_runner_stats stats;
    pawl_runner_stats_read(daemon->runner, &stats);
    if (stats.newer_schema != 0 && !*is_told)
        log_line(
            &daemon->log, PAWL_LOG_ERROR,
            "a newer Pawl has migrated the store to schema version %lld: this process takes no new work and finishes "
            "what it holds; replace it",
            (long long)stats.newer_schema);
    else if (stats.newer_schema == 0 && *is_told)
        log_line(&daemon->log, PAWL_LOG_INFO, "the store has the schema of this Pawl again: work is taken again");
    *is_told = stats.newer_schema != 0;
}

static void give_memory_back(struct daemon *daemon, struct memory *memory)
{
    size_t bytes = memory_look(memory, pw_monotonic_ms());
    if (bytes > 0)
        log_line(&daemon->log, PAWL_LOG_DEBUG, "gave %zu MiB of free memory back", bytes >> 20);
}

static void serve(struct daemon *daemon, int signal_fd)
{
    struct trouble trouble = { .told = 0 };
    struct blocked blocked = { .told = 0 };
    struct memory memory = { 0 };
    bool is_outdated = false;
    pthread_t drainer;
    int number;
    while ((number = await_signal(signal_fd, -1, 0, LOOK_MS)) < 0) {
        look_for_trouble(daemon, &trouble);
        blocked_look(&blocked, &daemon->log, daemon->engine, daemon->runner);
        look_at_schema(daemon, &is_outdated);
        give_memory_back(daemon, &memory);
    }
    look_at_files(daemon, &trouble);
    int64_t began_ms = pw_monotonic_ms();
    notify("STOPPING=1");
    log_line(&daemon->log, PAWL_LOG_INFO, "%s: draining; once more stops at once", signals_name(number));
    if (pthread_create(&drainer, NULL, drain, daemon) != 0) {
        (void)drain(daemon);
        return;
    }
    number = await_signal(signal_fd, daemon->drained_fd, SAME_SIGNAL_MS, daemon->settings->drain_ms);
    if (number != 0)
        stop_at_once(daemon, number);
    (void)pthread_join(drainer, NULL);
    log_line(&daemon->log, PAWL_LOG_INFO, "stopped after %lld ms", (long long)(pw_monotonic_ms() - began_ms));
}

int daemon_migrate(const struct settings *settings)
{
    struct daemon daemon = { .settings = settings, .log = log_open(settings->log, settings->log_level) };
    struct pawl_error error = { PAWL_OK, "" };
    log_detach(&daemon.log);
    pawl_status status = open_store(&daemon, &error);
    if (status == PAWL_OK) {
        pawl_close(daemon.engine);
        log_line(&daemon.log, PAWL_LOG_INFO, "store %s has the tables of pawld %s", settings->shown_store,
                 pawl_version());
    }
    log_close(&daemon.log);
    if (status != PAWL_OK)
        problem_print(status, &error);
    return problem_exit_code(status);
}

int daemon_run(const struct settings *settings, int signal_fd)
{
    struct pawl_error error = { PAWL_OK, "" };
    struct daemon *daemon = calloc(1, sizeof *daemon);
    if (daemon == NULL) {
        problem_print(PAWL_NOMEM, &error);
        return EXIT_BROKEN;
    }
    daemon->settings = settings;
    daemon->log = log_open(settings->log, settings->log_level);
    log_detach(&daemon->log);
    daemon->drained_fd = -1;
    pawl_status status = start(daemon, &error);
    if (status == PAWL_OK) {
        tell_start(daemon);
        notify("READY=1");
        serve(daemon, signal_fd);
    } else {
        log_flush(&daemon->log); /* log what led to it first */
        problem_print(status, &error);
    }
    close_all(daemon);
    log_close(&daemon->log);
    free(daemon);
    return problem_exit_code(status);
}
