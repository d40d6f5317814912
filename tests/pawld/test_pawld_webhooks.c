/* test_pawld_webhooks.c - webhooks (contract C7): signed, tried again, bounded, and told after a crash, too. */
#include "kit.h"
#include "receiver.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <sys/socket.h>
#include <time.h>

#define SECRET "a-secret-of-enough-bytes"

struct fixture {
    struct kit *kit;
    struct receiver receiver;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    void *kit;
    if (fixture == NULL || kit_set_up(&kit) != 0)
        return -1;
    fixture->kit = kit;
    receiver_open(&fixture->receiver);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    void *kit = fixture->kit;
    int left = kit_tear_down(&kit); /* first, so that nobody sends any more */
    receiver_close(&fixture->receiver);
    free(fixture);
    return left;
}

static const struct test_setting fixture_setting = { set_up, tear_down, 0 };

/* One webhook at the receiver; `more` are further members of it. */
static void write_config(struct fixture *fixture, const char *events, const char *more)
{
    write_file("c.json",
               pawl_scope_format(fixture->kit->scope,
                                 "{\"webhookParallelism\": 2, \"webhooks\": [{\"name\": \"test\", \"url\": "
                                 "\"http://somebody:password@127.0.0.1:%d/told?key=parameter\", \"events\": [%s], "
                                 "\"secret\": \"%s\"%s}]}",
                                 fixture->receiver.port, events, SECRET, more));
}

#define FINISHED "\"onInstanceFinished\""

static struct pawld *serve(struct fixture *fixture)
{
    return PAWLD_SERVE(fixture->kit, "--config", "c.json", "--log", "plain", GATES);
}

static const struct received_request *request_of(struct fixture *fixture, int position)
{
    receiver_await(&fixture->receiver, position + 1);
    return &fixture->receiver.requests[position];
}

static const pawl_value *body_of(struct fixture *fixture, int position)
{
    const char *body = request_of(fixture, position)->body;
    pawl_value *value;
    struct pawl_error error;
    assert_ok(pawl_value_parse(fixture->kit->scope, body, strlen(body), &value, &error), error);
    return value;
}

/* As a receiver would do it: from the bytes and the header that came. */
static void assert_signed(const struct received_request *request)
{
    char timestamp[64], signature[128], text[REQUEST_SIZE + 128], wanted[128] = "v1=";
    unsigned char bytes[32];
    receiver_header(request, "Pawl-Timestamp", timestamp, sizeof timestamp);
    receiver_header(request, "Pawl-Signature", signature, sizeof signature);
    (void)snprintf(text, sizeof text, "%s.%s", timestamp, request->body);
    assert_int_equal(gnutls_hmac_fast(GNUTLS_MAC_SHA256, SECRET, strlen(SECRET), text, strlen(text), bytes), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(wanted + 3 + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(signature, wanted);
    assert_in_range(strtoll(timestamp, NULL, 10), time(NULL) - 60, time(NULL) + 1);
}

/* The one delivery that is still there, once it is in this state; or none. */
static const pawl_value *await_delivery(struct fixture *fixture, const struct pawld *pawld, const char *status)
{
    struct answer answer = { .status = 0 };
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        answer = ask(fixture->kit, pawld, "GET", "/hooks/deliveries", NULL, NULL);
        assert_int_equal(answer.status, 200);
        if (strcmp(pawl_value_string(answer.value, "deliveries.0.status", "none"), status) == 0)
            return pawl_value_at(answer.value, "deliveries.0");
    }
    fail_msg("no delivery becomes %s: %s", status, answer.body);
    return NULL;
}

static void assert_nothing_secret(const struct pawld *pawld)
{
    static const char *const secrets[] = { SECRET, "password", "parameter", "somebody", "told" };
    for (size_t i = 0; i < LENGTH(secrets); i++)
        assert_null(strstr(pawld->errors, secrets[i]));
}

/* ---- What is told ------------------------------------------------------------------------------------------------ */

TEST_OF(fixture, C7_a_finished_instance_is_told_with_a_signed_body)
{
    char header[256];
    write_config(fixture, FINISHED, "");
    struct pawld *pawld = serve(fixture);

    create(fixture->kit, pawld, "echo", "a", NULL);

    const struct received_request *request = request_of(fixture, 0);
    const pawl_value *body = body_of(fixture, 0);
    assert_memory_equal(request->head, "POST /told?key=parameter HTTP/1.1\r\n", 35);
    assert_signed(request);
    receiver_header(request, "Content-Type", header, sizeof header);
    assert_string_equal(header, "application/json");
    receiver_header(request, "Pawl-Event", header, sizeof header);
    assert_string_equal(header, "onInstanceFinished");
    receiver_header(request, "Pawl-Delivery", header, sizeof header);
    assert_string_equal(header, pawl_value_string(body, "id", ""));
    assert_string_equal(pawl_value_string(body, "event", ""), "onInstanceFinished");
    assert_int_equal(pawl_value_int(body, "attempt", 0), 1);
    assert_int_equal(strlen(pawl_value_string(body, "createdAt", "")), strlen("2026-01-01T00:00:00.000Z"));
    assert_string_equal(pawl_value_string(body, "payload.workflowName", ""), "echo");
    assert_string_equal(pawl_value_string(body, "payload.instanceId", ""), "a");
    assert_string_equal(pawl_value_string(body, "payload.status", ""), "complete");
    assert_int_equal(pawl_value_size(body, NULL), 5);
    (void)await_delivery(fixture, pawld, "none"); /* delivered ones are gone */
}

TEST_OF(fixture, C7_a_webhook_is_told_only_the_events_that_it_asks_for)
{
    write_config(fixture, "\"onWorkflowEnqueued\"", "");
    struct pawld *pawld = serve(fixture);

    create(fixture->kit, pawld, "nap", "a", NULL);
    await_status(fixture->kit, pawld, "nap", "a", "waiting");
    ask(fixture->kit, pawld, "POST", "/workflows/nap/instances/a/events", "{\"type\": \"go\"}", NULL);
    await_status(fixture->kit, pawld, "nap", "a", "complete");
    (void)await_delivery(fixture, pawld, "none");

    bool created = false, woken = false;
    for (int i = 0; i < receiver_count(&fixture->receiver); i++) {
        const pawl_value *body = body_of(fixture, i);
        assert_string_equal(pawl_value_string(body, "event", ""), "onWorkflowEnqueued");
        created = created || strcmp(pawl_value_string(body, "payload.reason", ""), "create") == 0;
        woken = woken || strcmp(pawl_value_string(body, "payload.reason", ""), "event") == 0;
    }
    assert_true(created && woken);
}

/* ---- What goes wrong --------------------------------------------------------------------------------------------- */

TEST_OF(fixture, C7_a_failed_delivery_is_tried_again_with_growing_delays)
{
    write_config(fixture, FINISHED, ", \"delayMs\": 100");
    receiver_answers(&fixture->receiver, (const int[]){ 500, 503, 200 }, 3);
    struct pawld *pawld = serve(fixture);

    create(fixture->kit, pawld, "echo", "a", NULL);
    receiver_await(&fixture->receiver, 3);
    (void)await_delivery(fixture, pawld, "none");

    const struct received_request *requests = fixture->receiver.requests;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pawl_value_int(body_of(fixture, i), "attempt", 0), i + 1);
        assert_string_equal(pawl_value_string(body_of(fixture, i), "id", ""),
                            pawl_value_string(body_of(fixture, 0), "id", "?"));
        assert_signed(&requests[i]);
    }
    assert_true(requests[1].at_ms - requests[0].at_ms >= 100);
    assert_true(requests[2].at_ms - requests[1].at_ms >= 200);
    pawld_await(pawld, " answered 500");
    pawld_await(pawld, "attempt=2 of 5");
    assert_nothing_secret(pawld);
}

TEST_OF(fixture, C7_one_that_failed_for_good_is_visible_and_can_be_sent_again)
{
    write_config(fixture, FINISHED, ", \"delayMs\": 1, \"attempts\": 2");
    receiver_answers(&fixture->receiver, (const int[]){ 500, 500, 200 }, 3);
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);

    const pawl_value *delivery = await_delivery(fixture, pawld, "failed");
    assert_int_equal(receiver_count(&fixture->receiver), 2);
    const char *wanted =
        pawl_scope_format(fixture->kit->scope, "http://127.0.0.1:%d answered 500", fixture->receiver.port);
    assert_string_equal(pawl_value_string(delivery, "lastError", ""), wanted);
    const char *url =
        pawl_scope_format(fixture->kit->scope, "/hooks/deliveries/%s/resend", pawl_value_string(delivery, "id", ""));
    assert_int_equal(ask(fixture->kit, pawld, "POST", url, NULL, NULL).status, 200);

    (void)await_delivery(fixture, pawld, "none");
    assert_int_equal(receiver_count(&fixture->receiver), 3);
}

TEST_OF(fixture, a_redirect_is_a_failure_and_the_body_goes_nowhere_else)
{
    struct receiver other;
    receiver_open(&other);
    fixture->receiver.location = pawl_scope_format(fixture->kit->scope, "http://127.0.0.1:%d/elsewhere", other.port);
    write_config(fixture, FINISHED, ", \"attempts\": 1");
    receiver_answers(&fixture->receiver, (const int[]){ 307 }, 1);
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);

    const pawl_value *delivery = await_delivery(fixture, pawld, "failed");

    assert_non_null(strstr(pawl_value_string(delivery, "lastError", ""), "answered 307: redirects are not followed"));
    assert_int_equal(receiver_count(&other), 0);
    assert_nothing_secret(pawld);
    receiver_close(&other);
}

TEST_OF(fixture, a_receiver_that_is_gone_is_not_asked_again)
{
    write_config(fixture, FINISHED, ", \"delayMs\": 1");
    receiver_answers(&fixture->receiver, (const int[]){ 410 }, 1);
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);

    const pawl_value *delivery = await_delivery(fixture, pawld, "failed");

    assert_non_null(strstr(pawl_value_string(delivery, "lastError", ""), "answered 410"));
    assert_int_equal(pawl_value_int(delivery, "attempts", 0), 1);
    assert_int_equal(receiver_count(&fixture->receiver), 1);
}

TEST_OF(fixture, a_receiver_that_does_not_answer_in_time_is_asked_again)
{
    write_config(fixture, FINISHED, ", \"delayMs\": 1, \"attempts\": 10, \"timeoutMs\": 900");
    receiver_hold(&fixture->receiver, true);
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);
    pawld_await(pawld, " did not answer within 900 ms");

    receiver_hold(&fixture->receiver, false);

    (void)await_delivery(fixture, pawld, "none");
    assert_true(receiver_count(&fixture->receiver) >= 2);
    assert_nothing_secret(pawld);
}

TEST_OF(fixture, nobody_listening_is_a_failure_that_is_told)
{
    write_config(fixture, FINISHED, ", \"attempts\": 1");
    (void)shutdown(fixture->receiver.listener, SHUT_RDWR); /* the port is refused from now on */
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);

    const pawl_value *delivery = await_delivery(fixture, pawld, "failed");

    assert_non_null(strstr(pawl_value_string(delivery, "lastError", ""), "cannot be reached"));
    assert_nothing_secret(pawld);
}

/* ---- Bounds, and crashes ----------------------------------------------------------------------------------------- */

TEST_OF(fixture, no_more_deliveries_are_under_way_than_are_allowed)
{
    enum { INSTANCES = 6, ALLOWED = 2 };
    write_config(fixture, FINISHED, ", \"timeoutMs\": 60000"); /* none is given up meanwhile */
    receiver_hold(&fixture->receiver, true);
    struct pawld *pawld = serve(fixture);

    for (int i = 0; i < INSTANCES; i++)
        create(fixture->kit, pawld, "echo", pawl_scope_format(fixture->kit->scope, "a-%d", i), NULL);
    for (int i = 0; i < INSTANCES; i++)
        await_status(fixture->kit, pawld, "echo", pawl_scope_format(fixture->kit->scope, "a-%d", i), "complete");
    receiver_await(&fixture->receiver, ALLOWED); /* the API answers meanwhile: nobody waits for a webhook */
    assert_int_equal(receiver_count(&fixture->receiver), ALLOWED);
    receiver_hold(&fixture->receiver, false);

    receiver_await(&fixture->receiver, INSTANCES);
    (void)await_delivery(fixture, pawld, "none");
    assert_int_equal(fixture->receiver.inside_max, ALLOWED);
}

TEST_OF(fixture, C7_what_was_not_told_before_a_crash_is_told_after_it)
{
    write_config(fixture, FINISHED, ", \"delayMs\": 3000");
    receiver_answers(&fixture->receiver, (const int[]){ 500, 200 }, 2);
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);
    pawld_await(pawld, "webhook not delivered");
    const pawl_value *delivery = await_delivery(fixture, pawld, "pending");

    pawld_kill(pawld, SIGKILL);
    assert_int_equal(pawld_await_end(pawld), 128 + SIGKILL);
    pawld = serve(fixture);

    receiver_await(&fixture->receiver, 2);
    assert_string_equal(pawl_value_string(body_of(fixture, 1), "id", ""), pawl_value_string(delivery, "id", "?"));
    assert_int_equal(pawl_value_int(body_of(fixture, 1), "attempt", 0), 2);
    (void)await_delivery(fixture, pawld, "none");
}

/* The instance finishes in a pawld that is killed before anybody could be told; its lease on the delivery is what the
 * next one waits for, so the timeout is short. */
TEST_OF(fixture, C7_a_delivery_that_a_crash_cut_off_is_made_again)
{
    write_config(fixture, FINISHED, ", \"timeoutMs\": 900");
    receiver_hold(&fixture->receiver, true);
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);
    receiver_await(&fixture->receiver, 1);

    pawld_kill(pawld, SIGKILL);
    (void)pawld_await_end(pawld);
    receiver_hold(&fixture->receiver, false);
    pawld = serve(fixture);

    receiver_await(&fixture->receiver, 2);
    assert_string_equal(pawl_value_string(body_of(fixture, 1), "id", ""),
                        pawl_value_string(body_of(fixture, 0), "id", "?"));
    (void)await_delivery(fixture, pawld, "none");
}

TEST_OF(fixture, SIGTERM_waits_for_a_delivery_under_way)
{
    write_config(fixture, FINISHED, "");
    receiver_hold(&fixture->receiver, true);
    struct pawld *pawld = serve(fixture);
    create(fixture->kit, pawld, "echo", "a", NULL);
    receiver_await(&fixture->receiver, 1);

    pawld_kill(pawld, SIGTERM);
    pawld_await(pawld, "draining");
    receiver_hold(&fixture->receiver, false);

    assert_int_equal(pawld_await_end(pawld), 0);
    pawld = serve(fixture);
    (void)await_delivery(fixture, pawld, "none");
    assert_int_equal(receiver_count(&fixture->receiver), 1);
}
