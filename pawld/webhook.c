/* webhook.c - see webhook.h. */
#include "webhook.h"

#include <curl/curl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pawl/pawl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "problem.h"

enum { SIGNATURE_SIZE = 32, ANSWER_BYTES_MAX = 65536, LEASE_RESERVE_MS = 5000 };

/* ---- The message ------------------------------------------------------------------------------------------------- */

struct message {
    pawl_scope *scope;
    const char *body;
    size_t body_size;
    struct curl_slist *headers;
    char timestamp[24];
};

static const char *moment_text(pawl_scope *scope, int64_t at_ms)
{
    time_t seconds = (time_t)(at_ms / 1000);
    struct tm parts;
    char text[40];
    (void)gmtime_r(&seconds, &parts);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return pawl_scope_format(scope, "%s.%03dZ", text, (int)(at_ms % 1000));
}

static pawl_status write_body(struct message *message, const struct pawl_delivery *delivery)
{
    const char *payload_json = delivery->payload_json != NULL ? delivery->payload_json : "null";
    const char *moment = moment_text(message->scope, delivery->created_at_ms);
    struct pawl_error unused;
    pawl_value *payload, *body;
    if (moment == NULL)
        return PAWL_NOMEM;
    PAWL_TRY(pawl_value_parse(message->scope, payload_json, strlen(payload_json), &payload, &unused));
    PAWL_TRY(pawl_value_pack(message->scope, &body, "{s:s, s:s, s:I, s:s, s:V}", "id", delivery->id, "event",
                             pawl_hook_event_name(delivery->event), "attempt", (long long)delivery->attempt,
                             "createdAt", moment, "payload", payload));
    return pawl_value_text(message->scope, body, &message->body, &message->body_size);
}

/* Returns the signature of "timestamp.body" in hexadecimal. */
static const char *sign(const struct message *message, const char *secret)
{
    const char *text = pawl_scope_format(message->scope, "%s.%s", message->timestamp, message->body);
    unsigned char bytes[SIGNATURE_SIZE];
    char shown[2 * SIGNATURE_SIZE + 1];
    if (text == NULL || gnutls_hmac_fast(GNUTLS_MAC_SHA256, secret, strlen(secret), text, strlen(text), bytes) != 0)
        return NULL;
    for (size_t i = 0; i < SIGNATURE_SIZE; i++)
        (void)snprintf(shown + 2 * i, 3, "%02x", bytes[i]);
    return pawl_scope_format(message->scope, "%s", shown);
}

static pawl_status add_header(struct message *message, const char *name, const char *value)
{
    const char *line = pawl_scope_format(message->scope, "%s: %s", name, value);
    struct curl_slist *headers = line != NULL && value != NULL ? curl_slist_append(message->headers, line) : NULL;
    if (headers == NULL)
        return PAWL_NOMEM;
    message->headers = headers;
    return PAWL_OK;
}

static pawl_status write_message(struct message *message, const struct pawl_delivery *delivery, const char *secret)
{
    if (message->scope == NULL)
        return PAWL_NOMEM;
    (void)snprintf(message->timestamp, sizeof message->timestamp, "%lld", (long long)time(NULL));
    PAWL_TRY(write_body(message, delivery));
    const char *signature = sign(message, secret);
    if (signature == NULL)
        return PAWL_NOMEM;
    PAWL_TRY(add_header(message, "Content-Type", "application/json"));
    PAWL_TRY(add_header(message, "User-Agent", pawl_scope_format(message->scope, "pawld/%s", pawl_version())));
    PAWL_TRY(add_header(message, "Pawl-Delivery", delivery->id));
    PAWL_TRY(add_header(message, "Pawl-Event", pawl_hook_event_name(delivery->event)));
    PAWL_TRY(add_header(message, "Pawl-Timestamp", message->timestamp));
    PAWL_TRY(add_header(message, "Pawl-Signature", pawl_scope_format(message->scope, "v1=%s", signature)));
    struct curl_slist *headers = curl_slist_append(message->headers, "Expect:"); /* do not wait for 100 Continue */
    if (headers == NULL)
        return PAWL_NOMEM;
    message->headers = headers;
    return PAWL_OK;
}

/* ---- Sending ----------------------------------------------------------------------------------------------------- */

/* Counts the bytes of the answer's body and drops them.  An endless body is cut off. */
static size_t drop_answer(char *bytes, size_t size, size_t count, void *user)
{
    size_t *seen = user;
    (void)bytes;
    *seen += size * count;
    return *seen <= ANSWER_BYTES_MAX ? size * count : 0;
}

static bool set_up_transfer(CURL *transfer, const struct webhook *webhook, const struct message *message, size_t *seen)
{
    const struct webhook_settings *settings = webhook->settings;
    return curl_easy_setopt(transfer, CURLOPT_URL, settings->url) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, (long)settings->timeout_ms) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT_MS, (long)settings->timeout_ms) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, message->headers) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)message->body_size) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_POSTFIELDS, message->body) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, drop_answer) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_WRITEDATA, seen) == CURLE_OK;
}

static pawl_status judge(const struct webhook *webhook, CURLcode code, long answer, struct pawl_error *error)
{
    if (answer == 0 && code == CURLE_OPERATION_TIMEDOUT)
        return problem(error, PAWL_FAILED, "%s did not answer within %lld ms", webhook->url_shown,
                       (long long)webhook->settings->timeout_ms);
    /* Once there is a status it counts, even if the answer's body was cut off or broken. */
    if (answer == 0)
        return problem(error, PAWL_FAILED, "%s cannot be reached: %s", webhook->url_shown, curl_easy_strerror(code));
    if (answer >= 200 && answer < 300)
        return PAWL_OK;
    if (answer == 410)
        return problem(error, PAWL_NON_RETRYABLE, "%s answered 410: it is gone, and is not asked again",
                       webhook->url_shown);
    if (answer >= 300 && answer < 400)
        return problem(error, PAWL_FAILED,
                       "%s answered %ld: redirects are not followed; configure the address that it points to",
                       webhook->url_shown, answer);
    return problem(error, PAWL_FAILED, "%s answered %ld", webhook->url_shown, answer);
}

static pawl_status send_message(const struct webhook *webhook, const struct message *message, struct pawl_error *error)
{
    CURL *transfer = curl_easy_init();
    size_t seen = 0;
    long answer = 0;
    pawl_status status;
    if (transfer == NULL || !set_up_transfer(transfer, webhook, message, &seen)) {
        status = problem(error, PAWL_FAILED, "%s: the request cannot be made", webhook->url_shown);
    } else {
        CURLcode code = curl_easy_perform(transfer);
        (void)curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &answer);
        status = judge(webhook, code, answer, error);
    }
    curl_easy_cleanup(transfer);
    return status;
}

static void tell(const struct webhook *webhook, const struct pawl_delivery *delivery, pawl_status status,
                 const struct pawl_error *error)
{
    char attempt[48];
    (void)snprintf(attempt, sizeof attempt, "%lld of %lld", (long long)delivery->attempt,
                   (long long)delivery->attempts_max);
    const struct log_field fields[] = {
        { "webhook", delivery->hook },      { "event", pawl_hook_event_name(delivery->event) },
        { "workflow", delivery->workflow }, { "instance", delivery->instance_id },
        { "delivery", delivery->id },       { "attempt", attempt }
    };
    const size_t count = sizeof fields / sizeof fields[0];
    if (status == PAWL_OK)
        log_fields(webhook->log, PAWL_LOG_DEBUG, fields, count, "webhook delivered");
    else
        log_fields(webhook->log, PAWL_LOG_WARN, fields, count, "webhook not delivered: %s", error->text);
}

static pawl_status deliver(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    const struct webhook *webhook = user;
    struct message message = { .scope = pawl_scope_new() };
    pawl_status status = write_message(&message, delivery, webhook->settings->secret);
    if (status == PAWL_OK)
        status = send_message(webhook, &message, error);
    else
        (void)problem(error, status, "the message cannot be written: %s", pawl_status_text(status));
    tell(webhook, delivery, status, error);
    curl_slist_free_all(message.headers);
    pawl_scope_free(message.scope);
    return status;
}

/* ---- Registering ------------------------------------------------------------------------------------------------- */

/* Shows only scheme, host and port of the URL, because the rest may be secret: often the path alone is what allows
 * to post.  Returns false if it is not a URL. */
static bool show_url(const char *url, char *out_text, size_t size)
{
    CURLU *parts = curl_url();
    char *shown = NULL;
    bool is_url = parts != NULL && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                  curl_url_set(parts, CURLUPART_USER, NULL, 0) == CURLUE_OK &&
                  curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0) == CURLUE_OK &&
                  curl_url_set(parts, CURLUPART_PATH, NULL, 0) == CURLUE_OK &&
                  curl_url_set(parts, CURLUPART_QUERY, NULL, 0) == CURLUE_OK &&
                  curl_url_set(parts, CURLUPART_FRAGMENT, NULL, 0) == CURLUE_OK &&
                  curl_url_get(parts, CURLUPART_URL, &shown, 0) == CURLUE_OK;
    if (is_url) { /* drop the "/" that is left of the path */
        int length = (int)strlen(shown);
        (void)snprintf(out_text, size, "%.*s", length > 0 && shown[length - 1] == '/' ? length - 1 : length, shown);
    }
    curl_free(shown);
    curl_url_cleanup(parts);
    return is_url;
}

pawl_status webhook_register(struct webhook *webhook, const struct webhook_settings *settings, const struct log *log,
                             pawl_engine *engine, struct pawl_error *error)
{
    struct pawl_hook hook = PAWL_HOOK_INIT;
    struct pawl_error why = { PAWL_OK, "" };
    *webhook = (struct webhook){ .settings = settings, .log = log };
    if (!show_url(settings->url, webhook->url_shown, sizeof webhook->url_shown))
        return problem(error, PAWL_INVALID, "webhook \"%.64s\": its url is not one", settings->name);
    hook.name = settings->name;
    hook.events = settings->events;
    hook.deliver = deliver;
    hook.user = webhook;
    hook.attempts_max = settings->attempts;
    hook.delay_ms = settings->delay_ms;
    hook.lease_ms = settings->timeout_ms + LEASE_RESERVE_MS; /* leaves time for the commit */
    pawl_status status = pawl_hook_register(engine, &hook, &why);
    return status == PAWL_OK ? PAWL_OK : problem(error, status, "webhook \"%.64s\": %.400s", settings->name, why.text);
}
