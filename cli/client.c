/* client.c - see client.h. */
#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/thread.h"
#include "moment.h"
#include "reference.h"

enum { ANSWER_SIZE_MAX = 1 << 30, PAUSE_MS_MIN = 100, PROBE_MS = 5000 };

/* ---- Paths ----------------------------------------------------------------------------------------------------------- */

static void put_encoded(struct pw_buffer *out, const char *text)
{
    for (; *text != '\0'; text++) {
        bool is_plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                        (*text >= '0' && *text <= '9') || strchr("-_.~", *text) != NULL;
        if (is_plain)
            pw_buffer_add(out, text, 1);
        else
            pw_buffer_format(out, "%%%02X", (unsigned)(unsigned char)*text);
    }
}

void query_put(struct pw_buffer *path, const char *key, const char *value)
{
    if (value == NULL)
        return;
    pw_buffer_format(path, "%c%s=", strchr(text_string(path), '?') != NULL ? '&' : '?', key);
    put_encoded(path, value);
}

void query_put_number(struct pw_buffer *path, const char *key, int64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%lld", (long long)value);
    query_put(path, key, digits);
}

const char *path_segment(struct pool *pool, const char *text)
{
    struct pw_buffer encoded = { 0 };
    put_encoded(&encoded, text);
    return text_keep(pool, &encoded);
}

/* ---- The connection ------------------------------------------------------------------------------------------------------ */

CURL *client_transfer(void)
{
    CURL *transfer = curl_easy_init();
    if (transfer == NULL)
        out_of_memory();
    return transfer;
}

void client_add_header(struct curl_slist **headers, const char *line)
{
    struct curl_slist *more = curl_slist_append(*headers, line);
    if (more == NULL)
        out_of_memory();
    *headers = more;
}

void client_open(struct session *session)
{
    struct client *client = &session->client;
    client->transfer = client_transfer();
    for (size_t i = 0; i < session->settings.header_count; i++)
        client_add_header(&client->headers, session->settings.headers[i]);
    client_add_header(&client->headers, "Content-Type: application/json");
}

void client_close(struct client *client)
{
    curl_slist_free_all(client->headers);
    if (client->transfer != NULL)
        curl_easy_cleanup(client->transfer);
    *client = (struct client){ .transfer = NULL };
}

void client_set_up(const struct session *session, CURL *transfer, const char *url)
{
    const struct settings *settings = &session->settings;
    (void)curl_easy_setopt(transfer, CURLOPT_URL, url);
    (void)curl_easy_setopt(transfer, CURLOPT_HTTPHEADER, session->client.headers);
    (void)curl_easy_setopt(transfer, CURLOPT_USERAGENT, "pawl");
    (void)curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT_MS, (long)settings->timeout_ms);
    if (settings->unix_socket != NULL)
        (void)curl_easy_setopt(transfer, CURLOPT_UNIX_SOCKET_PATH, settings->unix_socket);
    if (settings->ca_file != NULL)
        (void)curl_easy_setopt(transfer, CURLOPT_CAINFO, settings->ca_file);
}

static size_t receive(char *bytes, size_t size, size_t count, void *user)
{
    struct pw_buffer *body = user;
    if (body->size + size * count > ANSWER_SIZE_MAX)
        return 0;
    pw_buffer_add(body, bytes, size * count);
    return size * count;
}

/* ---- What went wrong ------------------------------------------------------------------------------------------------------- */

static enum exit_code explain_time_out(struct session *session, CURL *transfer, const char *method, int64_t timeout_ms)
{
    const char *url = session->settings.shown_url, *limit = duration_show(&session->pool, timeout_ms);
    curl_off_t connected = 0;
    (void)curl_easy_getinfo(transfer, CURLINFO_PRETRANSFER_TIME_T, &connected);
    if (connected == 0)
        return problem_set(&session->problem, EXIT_UNREACHABLE, "TIMED_OUT",
                           "no connection to %s within %s; is that where the server is? --timeout allows more time",
                           url, limit);
    return problem_set(&session->problem, EXIT_UNREACHABLE, "TIMED_OUT",
                       "no answer from %s within %s%s; --timeout allows more time", url, limit,
                       strcmp(method, "GET") == 0 ? "" : ", but what was asked for may have been done");
}

enum exit_code client_explain_failure(struct session *session, CURL *transfer, CURLcode failure, const char *method,
                                      int64_t timeout_ms)
{
    const char *url = session->settings.shown_url;
    if (failure == CURLE_OPERATION_TIMEDOUT)
        return explain_time_out(session, transfer, method, timeout_ms);
    if (failure == CURLE_COULDNT_CONNECT)
        return problem_set(&session->problem, EXIT_UNREACHABLE, "UNREACHABLE",
                           "nobody answers at %s; is pawld running there? --base-url or PAWL_BASE_URL says where it is",
                           url);
    if (failure == CURLE_COULDNT_RESOLVE_HOST)
        return problem_set(&session->problem, EXIT_UNREACHABLE, "UNREACHABLE",
                           "there is no host of that name: %s; --base-url or PAWL_BASE_URL says where the server is",
                           url);
    if (failure == CURLE_PEER_FAILED_VERIFICATION || failure == CURLE_SSL_CACERT_BADFILE)
        return problem_set(&session->problem, EXIT_UNREACHABLE, "UNREACHABLE",
                           "the certificate of %s is not trusted (%s); --ca-file names who signed it", url,
                           curl_easy_strerror(failure));
    if (failure == CURLE_URL_MALFORMAT)
        return problem_use(&session->problem, "the base URL is not one: %s", url);
    return problem_set(&session->problem, EXIT_UNREACHABLE, "UNREACHABLE", "no answer from %s: %s%s", url,
                       curl_easy_strerror(failure),
                       strcmp(method, "GET") == 0 ? "" : "; what was asked for may have been done");
}

/* Advice for errors whose message from the server has none. */
static const char *advice_for(long status, const char *code)
{
    static const struct {
        const char *code, *advice;
    } list[] = {
        { "UNAUTHORIZED", "; --token-file, --token-command or PAWL_TOKEN says who you are" },
        { "FORBIDDEN", "; another token may be allowed to (--token-file, --profile)" },
        { "RUNNER_TICK_DISABLED", "; pawld --allow-tick enables them" },
        { "INSTANCE_TERMINAL", "; what is possible is a new run (pawl instances why says which)" },
        { "INSTANCE_ID_ALREADY_EXISTS", "; --return-existing answers the one that has it" },
        { "ROUTE_NOT_FOUND", "; the base URL ends with the server's mount, which is /api unless told otherwise" },
        { "STORE_UNAVAILABLE", "; it is passing, try again" },
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (strcmp(list[i].code, code) == 0)
            return list[i].advice;
    return status == 401 ? list[0].advice : "";
}

enum exit_code client_explain_refusal(struct session *session, const struct answer *answer)
{
    const char *code = json_text(answer->json, "code", NULL), *message = json_text(answer->json, "message", NULL);
    if (code == NULL && answer->status == 401)
        code = "UNAUTHORIZED";
    if (code == NULL || message == NULL) {
        (void)problem_set(&session->problem, EXIT_REFUSED, code != NULL ? code : "UNKNOWN_ANSWER",
                          "%s answered %ld, but not as a Pawl server does; is this the base URL of one?%s",
                          session->settings.shown_url, answer->status,
                          code != NULL ? advice_for(answer->status, code) : "");
    } else {
        (void)problem_set(&session->problem, EXIT_REFUSED, code, "%s (%ld %s)%s", message, answer->status, code,
                          advice_for(answer->status, code));
    }
    session->problem.http_status = answer->status;
    return EXIT_REFUSED;
}

void client_tell(struct session *session, const char *format, ...)
{
    struct client *client = &session->client;
    va_list arguments;
    if (client->is_told)
        return;
    client->is_told = true;
    if (session->picture.rows > 0) { /* the message stays above the picture */
        picture_clear(session);
        (void)session_print(session);
    }
    (void)fputs("pawl: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputs("; trying again\n", stderr);
}

void client_tell_outage(struct session *session, const struct answer *answer)
{
    const char *code = json_text(answer->json, "code", "");
    if (strcmp(code, "STORE_UNAVAILABLE") == 0)
        client_tell(session, "the server answers, but its database does not (%ld %s)", answer->status, code);
    else
        client_tell(session, "the server cannot do this now (%ld%s%s)", answer->status, code[0] != '\0' ? " " : "",
                    safe(&session->pool, code));
}

/* ---- Asking ------------------------------------------------------------------------------------------------------------------ */

/* Hides the token of a deferred or a job: it is a secret, and part of the path. */
static const char *path_shown(struct pool *pool, const char *path)
{
    size_t before = text_starts(path, "/deferred/") ? strlen("/deferred/") : strlen("/jobs/");
    const char *behind = strrchr(path, '/');
    if ((!text_starts(path, "/deferred/") && !text_starts(path, "/jobs/")) || behind < path + before)
        return path;
    return pool_format(pool, "%.*s...%s", (int)before, path, behind);
}

static void tell(struct session *session, const char *method, const char *path, const struct answer *answer,
                 CURLcode failure, int64_t took_ms)
{
    if (!session->settings.is_verbose)
        return;
    path = path_shown(&session->pool, path);
    if (failure != CURLE_OK)
        (void)fprintf(stderr, "%s %s%s: %s\n", method, session->settings.shown_url, path, curl_easy_strerror(failure));
    else
        (void)fprintf(stderr, "%s %s%s: %ld, %zu bytes, %lld ms\n", method, session->settings.shown_url, path,
                      answer->status, answer->size, (long long)took_ms);
}

static enum exit_code ask_once(struct session *session, const char *method, const char *path, const char *body,
                               int64_t timeout_ms, struct answer *out_answer)
{
    CURL *transfer = session->client.transfer;
    int64_t began_ms = pw_monotonic_ms();
    curl_off_t retry_after_s = 0;
    struct answer answer = { .status = 0 };
    struct pw_buffer received = { 0 };
    curl_easy_reset(transfer);
    client_set_up(session, transfer, pool_format(&session->pool, "%s%s", session->settings.base_url, path));
    (void)curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    (void)curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, receive);
    (void)curl_easy_setopt(transfer, CURLOPT_WRITEDATA, &received);
    if (strcmp(method, "POST") == 0)
        (void)curl_easy_setopt(transfer, CURLOPT_POSTFIELDS, body != NULL ? body : "{}");
    CURLcode failure = curl_easy_perform(transfer);
    (void)curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &answer.status);
    (void)curl_easy_getinfo(transfer, CURLINFO_RETRY_AFTER, &retry_after_s);
    answer.retry_after_ms = (int64_t)retry_after_s * 1000;
    answer.size = received.size;
    answer.body = text_keep(&session->pool, &received);
    tell(session, method, path, &answer, failure, pw_monotonic_ms() - began_ms);
    if (failure != CURLE_OK)
        return client_explain_failure(session, transfer, failure, method, timeout_ms);
    answer.json = pool_json(&session->pool, json_read(answer.body, answer.size));
    *out_answer = answer;
    return EXIT_DONE;
}

static bool is_worth_another_try(const char *method, const struct answer *answer, bool is_probe)
{
    return answer->status == 429 || (answer->status == 503 && strcmp(method, "GET") == 0 && !is_probe);
}

/* Every answer but /metrics is JSON. */
static enum exit_code check_answer(struct session *session, const char *path, const struct answer *answer)
{
    if (answer->json != NULL || strcmp(path, "/metrics") == 0)
        return EXIT_DONE;
    return problem_set(&session->problem, EXIT_UNREACHABLE, "UNKNOWN_ANSWER",
                       "%s answers, but not with JSON; is this the base URL of a Pawl server?",
                       session->settings.shown_url);
}

/* Asks again while the server answers 429 or 503, until until_ms. */
static enum exit_code ask_until(struct session *session, const char *method, const char *path, const char *body,
                                int64_t timeout_ms, int64_t until_ms, bool is_probe, struct answer *out_answer)
{
    for (struct pool mark = pool_mark(&session->pool);; pool_release(&session->pool, mark)) {
        TRY(ask_once(session, method, path, body, timeout_ms, out_answer));
        if (out_answer->status >= 200 && out_answer->status < 300) {
            session->client.is_told = session->client.is_told && is_probe;
            return check_answer(session, path, out_answer);
        }
        int64_t pause_ms = out_answer->retry_after_ms > PAUSE_MS_MIN ? out_answer->retry_after_ms : PAUSE_MS_MIN;
        if (!is_worth_another_try(method, out_answer, is_probe) || pw_monotonic_ms() > until_ms - pause_ms)
            break;
        if (out_answer->status == 503)
            client_tell_outage(session, out_answer);
        moment_rest_ms(pause_ms);
    }
    return client_explain_refusal(session, out_answer);
}

enum exit_code client_ask_within(struct session *session, const char *method, const char *path, const char *body,
                                 int64_t timeout_ms, struct answer *out_answer)
{
    static const char workflows[] = "/workflows/";
    int64_t until_ms = pw_monotonic_ms() + timeout_ms;
    if (session->client.patient_until_ms > until_ms)
        until_ms = session->client.patient_until_ms;
    enum exit_code code = ask_until(session, method, path, body, timeout_ms, until_ms, false, out_answer);
    if (code != EXIT_REFUSED || !text_starts(path, workflows))
        return code;
    const char *workflow = path + strlen(workflows);
    return explain_workflow(session, code, pool_copy(&session->pool, workflow, strcspn(workflow, "/?")));
}

enum exit_code client_probe(struct session *session, const char *path, struct answer *out_answer)
{
    int64_t timeout_ms = session->settings.timeout_ms < PROBE_MS ? session->settings.timeout_ms : PROBE_MS;
    int64_t until_ms = pw_monotonic_ms() + timeout_ms;
    return ask_until(session, "GET", path, NULL, timeout_ms, until_ms, true, out_answer);
}

enum exit_code client_ask(struct session *session, const char *method, const char *path, const char *body,
                          struct answer *out_answer)
{
    return client_ask_within(session, method, path, body, session->settings.timeout_ms, out_answer);
}
