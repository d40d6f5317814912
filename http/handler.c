/* handler.c - creates and frees the handler, checks its options, and drains it. */
#include "http/handler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/call.h"

enum {
    BODY_BYTES_MAX = 4 * 1024 * 1024,
    WAIT_MS_MAX = 60000,
    STREAMS_MAX = 4096,
    HEARTBEAT_MS = 15000,
    LOOK_AGAIN_MS = 1000,
};
#define TIME_MS_MAX (INT64_C(365) * 24 * 60 * 60 * 1000)

static pawl_status refuse(struct pawl_error *error, pawl_status status, const char *text)
{
    if (error != NULL) {
        error->status = status;
        (void)snprintf(error->text, sizeof error->text, "%s", text);
    }
    return status;
}

/* A mount begins with a slash, ends without one, and needs no decoding. */
static bool is_mount(const char *mount)
{
    size_t size = strlen(mount);
    return size == 0 || (mount[0] == '/' && mount[size - 1] != '/' && strpbrk(mount, "?#% ") == NULL);
}

/* An origin as a browser sends it, without a path or a final slash. */
static bool is_origin(const char *text)
{
    if (strcmp(text, "*") == 0)
        return true;
    size_t scheme_size = strncmp(text, "https://", 8) == 0 ? 8 : strncmp(text, "http://", 7) == 0 ? 7 : 0;
    const char *host = text + scheme_size;
    return scheme_size > 0 && host[0] != '\0' &&
           host[strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]")] == '\0';
}

static const char *wrong_with(const struct pawl_http_options *options)
{
    if (options->mount != NULL && !is_mount(options->mount))
        return "the mount is a path such as \"/api\", without a slash at its end, or \"\"";
    if (options->allow_tick && options->runner == NULL && options->tick_runner == NULL)
        return "ticks are allowed, but there is no runner to tick";
    if (options->body_bytes_max < 0 || options->wait_ms_max < 0 || options->streams_max < 0 ||
        options->heartbeat_ms < 0 || options->look_again_ms < 0)
        return "a limit of the handler is negative; 0 is its default";
    if (options->wait_ms_max > TIME_MS_MAX || options->heartbeat_ms > TIME_MS_MAX ||
        options->look_again_ms > TIME_MS_MAX)
        return "a time of the handler is at most 365 days";
    if (options->cors_origin != NULL && !is_origin(options->cors_origin))
        return "the CORS origin is one such as \"https://example.org\", without a path, or \"*\"";
    return NULL;
}

static void fill_in(struct pawl_http_options *options)
{
    if (options->body_bytes_max == 0)
        options->body_bytes_max = BODY_BYTES_MAX;
    if (options->wait_ms_max == 0)
        options->wait_ms_max = WAIT_MS_MAX;
    if (options->streams_max == 0)
        options->streams_max = STREAMS_MAX;
    if (options->heartbeat_ms == 0)
        options->heartbeat_ms = HEARTBEAT_MS;
    if (options->look_again_ms == 0)
        options->look_again_ms = LOOK_AGAIN_MS;
}

static bool set_up(pawl_http *http)
{
    struct pawl_http_options *options = &http->options;
    const char *mount = options->mount != NULL ? options->mount : "/api", *origin = options->cors_origin;
    options->mount = strdup(mount);
    options->cors_origin = origin != NULL ? strdup(origin) : NULL;
    if (options->mount != NULL && (origin == NULL || options->cors_origin != NULL) &&
        pthread_mutex_init(&http->lock, NULL) == 0) {
        http->mount_size = strlen(options->mount);
        if (pw_http_prober_init(&http->prober, http->engine, pw_http_calls_looked, http)) {
            if (pw_http_ticker_init(&http->ticker,
                                    options->tick_runner != NULL ? options->tick_runner : options->runner))
                return true;
            pw_http_prober_clear(&http->prober);
        }
        (void)pthread_mutex_destroy(&http->lock);
    }
    free((char *)options->mount);
    free((char *)options->cors_origin);
    return false;
}

pawl_status pawl_http_new(pawl_engine *engine, const struct pawl_http_options *options, pawl_http **out_http,
                          struct pawl_error *error)
{
    struct pawl_http_options known = PAWL_HTTP_OPTIONS_INIT;
    if (engine == NULL || out_http == NULL)
        return refuse(error, PAWL_INVALID, "the engine or the place for the handler is missing (NULL)");
    if (options != NULL) {
        if (options->struct_size < sizeof options->struct_size || options->struct_size > sizeof known)
            return refuse(error, PAWL_INVALID, "the options' struct_size is wrong; begin with PAWL_HTTP_OPTIONS_INIT");
        memcpy(&known, options, options->struct_size);
    }
    const char *wrong = wrong_with(&known);
    if (wrong != NULL)
        return refuse(error, PAWL_INVALID, wrong);
    fill_in(&known);
    pawl_http *http = calloc(1, sizeof *http);
    if (http == NULL)
        return refuse(error, PAWL_NOMEM, pawl_status_text(PAWL_NOMEM));
    http->engine = engine;
    http->options = known;
    http->store_is_remote = pawl_store_is_remote(engine);
    if (!set_up(http)) {
        free(http);
        return refuse(error, PAWL_NOMEM, pawl_status_text(PAWL_NOMEM));
    }
    *out_http = http;
    return PAWL_OK;
}

void pawl_http_free(pawl_http *http)
{
    if (http == NULL)
        return;
    pw_http_ticker_clear(&http->ticker);
    pw_http_prober_clear(&http->prober);
    (void)pthread_mutex_destroy(&http->lock);
    free((char *)http->options.mount); /* ours */
    free((char *)http->options.cors_origin);
    free(http);
}

/* Wakes all listed calls.  Each finds is_draining set and ends its wait: long polls answer with what is known,
 * streams end. */
void pawl_http_drain(pawl_http *http)
{
    atomic_store(&http->is_draining, true);
    (void)pthread_mutex_lock(&http->lock);
    for (pawl_http_call *call = http->waiting; call != NULL; call = call->next)
        if (call->ready != NULL)
            call->ready(call->user);
    (void)pthread_mutex_unlock(&http->lock);
}
