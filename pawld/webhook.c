/* webhook.c - see webhook.h. */
#include "webhook.h"

#include <curl/curl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <pawl/pawl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/json_writer.h"
#include "problem.h"

enum { SIGNATURE_SIZE = 32, ANSWER_BYTES_MAX = 65536, LEASE_RESERVE_MS = 5000 };

/* ---- The message ------------------------------------------------------------------------------------------------- */

struct message {
    struct pw_buffer body;
    struct curl_slist *headers;
    char timestamp[24];
};

static void write_body(struct pw_buffer *body, const struct pawl_delivery *delivery)
{
    pw_json_open(body, NULL, '{');
    pw_json_string(body, "id", delivery->id);
    pw_json_string(body, "event", pawl_hook_event_name(delivery->event));
    pw_json_integer(body, "attempt", delivery->attempt);
    pw_json_time(body, "createdAt", delivery->created_at_ms);
    pw_json_raw(body, "payload", delivery->payload_json);
    pw_json_close(body, '}');
}

/* In hexadecimal, of "timestamp.body". */
static bool sign(const struct message *message, const char *secret, char out_signature[2 * SIGNATURE_SIZE + 1])
{
    struct pw_buffer text = { 0 };
    unsigned char bytes[SIGNATURE_SIZE] = { 0 };
    pw_buffer_format(&text, "%s.", message->timestamp);
    pw_buffer_add(&text, message->body.data, message->body.size);
    bool is_signed =
        !text.failed && gnutls_hmac_fast(GNUTLS_MAC_SHA256, secret, strlen(secret), text.data, text.size, bytes) == 0;
    pw_buffer_clear(&text);
    for (size_t i = 0; i < SIGNATURE_SIZE; i++)
        (void)snprintf(out_signature + 2 * i, 3, "%02x", bytes[i]);
    return is_signed;
}

static PAWL_PRINTF(2, 3) bool add_header(struct message *message, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    struct curl_slist *headers = curl_slist_append(message->headers, line);
    if (headers != NULL)
        message->headers = headers;
    return headers != NULL;
}

/* False: memory is out. */
static bool write_message(struct message *message, const struct pawl_delivery *delivery, const char *secret)
{
    char signature[2 * SIGNATURE_SIZE + 1];
    (void)snprintf(message->timestamp, sizeof message->timestamp, "%lld", (long long)time(NULL));
    write_body(&message->body, delivery);
    return !message->body.failed && sign(message, secret, signature) &&
           add_header(message, "Content-Type: application/json") &&
           add_header(message, "User-Agent: pawld/%s", pawl_version()) &&
           add_header(message, "Pawl-Delivery: %s", delivery->id) &&
           add_header(message, "Pawl-Event: %s", pawl_hook_event_name(delivery->event)) &&
           add_header(message, "Pawl-Timestamp: %s", message->timestamp) &&
           add_header(message, "Pawl-Signature: v1=%s", signature) &&
           add_header(message, "Expect:"); /* no waiting for 100 Continue */
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
           curl_easy_setopt(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)message->body.size) == CURLE_OK &&
           curl_easy_setopt(transfer, CURLOPT_POSTFIELDS, message->body.data) == CURLE_OK &&
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
    struct message message = { .headers = NULL };
    pawl_status status = write_message(&message, delivery, webhook->settings->secret)
                             ? send_message(webhook, &message, error)
                             : problem(error, PAWL_NOMEM, "the message cannot be written: out of memory");
    tell(webhook, delivery, status, error);
    curl_slist_free_all(message.headers);
    pw_buffer_clear(&message.body);
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
