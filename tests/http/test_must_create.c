/* test_must_create.c - creating never waits for running (contract B3): while every worker is stuck in a slow step, batch after
 * batch is accepted, and all of it runs once the workers are free. */
#include "serving.h"

#include <curl/curl.h>

enum { WORKERS = 8, BATCHES = 100, BATCH_SIZE = 100, BODY_BYTES = 64 * 1024 };

struct asker {
    CURL *curl;
    struct curl_slist *headers;
    char body[BODY_BYTES], answer[BODY_BYTES];
    size_t answer_size;
};

static size_t gather(char *bytes, size_t size, size_t count, void *user)
{
    struct asker *asker = user;
    if (asker->answer_size + size * count >= sizeof asker->answer)
        return 0; /* curl takes that for a failure */
    memcpy(asker->answer + asker->answer_size, bytes, size * count);
    asker->answer_size += size * count;
    asker->answer[asker->answer_size] = '\0';
    return size * count;
}

static struct asker *asker_new(const struct serving *serving)
{
    struct asker *asker = calloc(1, sizeof *asker);
    char url[128];
    assert_non_null(asker);
    asker->curl = curl_easy_init();
    asker->headers = curl_slist_append(NULL, "Content-Type: application/json");
    assert_non_null(asker->curl);
    assert_non_null(asker->headers);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/api/workflows/gated/instances/batch", serving->port);
    curl_easy_setopt(asker->curl, CURLOPT_URL, url);
    curl_easy_setopt(asker->curl, CURLOPT_HTTPHEADER, asker->headers);
    curl_easy_setopt(asker->curl, CURLOPT_POSTFIELDS, asker->body);
    curl_easy_setopt(asker->curl, CURLOPT_WRITEFUNCTION, gather);
    curl_easy_setopt(asker->curl, CURLOPT_WRITEDATA, asker);
    curl_easy_setopt(asker->curl, CURLOPT_TIMEOUT_MS, (long)PATIENCE_MS);
    curl_easy_setopt(asker->curl, CURLOPT_NOSIGNAL, 1L);
    return asker;
}

static void asker_free(struct asker *asker)
{
    curl_slist_free_all(asker->headers);
    curl_easy_cleanup(asker->curl);
    free(asker);
}

static void write_batch(struct asker *asker, int batch)
{
    size_t size = (size_t)snprintf(asker->body, sizeof asker->body, "{\"instances\":[");
    for (int i = 0; i < BATCH_SIZE; i++)
        size += (size_t)snprintf(asker->body + size, sizeof asker->body - size,
                                 "%s{\"id\":\"run-%d-%d\",\"params\":{\"n\":%d}}", i > 0 ? "," : "", batch, i, i);
    snprintf(asker->body + size, sizeof asker->body - size, "]}");
}

/* All of the batch, in its order. */
static void check_batch(struct asker *asker, pawl_scope *scope, int batch)
{
    pawl_value *value = NULL;
    char id[40];
    assert_int_equal(pawl_value_parse(scope, asker->answer, asker->answer_size, &value, NULL), PAWL_OK);
    const pawl_value *instances = pawl_value_at(value, "instances");
    assert_int_equal(pawl_value_size(instances, NULL), BATCH_SIZE);
    for (int i = 0; i < BATCH_SIZE; i++) {
        const pawl_value *instance = pawl_value_item(instances, (size_t)i);
        snprintf(id, sizeof id, "run-%d-%d", batch, i);
        assert_string_equal(pawl_value_string(instance, "id", ""), id);
        assert_string_equal(pawl_value_string(instance, "details.status", ""), "active");
    }
}

/* Returns how many connections it took. */
static long create_batch(struct asker *asker, int batch)
{
    long status = 0, connections = 0;
    pawl_scope *scope = pawl_scope_new();
    assert_non_null(scope);
    asker->answer_size = 0;
    write_batch(asker, batch);
    CURLcode result = curl_easy_perform(asker->curl);
    if (result != CURLE_OK)
        fail_msg("batch %d: %s", batch, curl_easy_strerror(result));
    assert_int_equal(curl_easy_getinfo(asker->curl, CURLINFO_RESPONSE_CODE, &status), CURLE_OK);
    assert_int_equal(curl_easy_getinfo(asker->curl, CURLINFO_NUM_CONNECTS, &connections), CURLE_OK);
    assert_int_equal(status, 200);
    check_batch(asker, scope, batch);
    pawl_scope_free(scope);
    return connections;
}

/* Every worker stands at the gate, none has come through, and nothing has ended. */
static void assert_all_are_stuck(struct serving *serving)
{
    static const enum pawl_instance_status ended[] = { PAWL_COMPLETE, PAWL_ERRORED, PAWL_TERMINATED };
    pthread_mutex_lock(&serving->gate.lock);
    int inside = serving->gate.inside, entered = serving->gate.entered;
    pthread_mutex_unlock(&serving->gate.lock);
    assert_int_equal(inside, WORKERS);
    assert_int_equal(entered, WORKERS);
    for (size_t i = 0; i < LENGTH(ended); i++)
        assert_int_equal(running_count(&serving->running, "gated", ended[i]), 0);
}

static void create_while_stuck(struct serving *serving)
{
    struct asker *asker = asker_new(serving);
    long connections = create_batch(asker, 0);
    gate_await(&serving->gate, WORKERS);
    for (int batch = 1; batch < BATCHES; batch++)
        connections += create_batch(asker, batch);
    assert_all_are_stuck(serving);
    assert_int_equal(connections, 1); /* it was kept */
    assert_int_equal(running_count(&serving->running, "gated", PAWL_ACTIVE), BATCHES * BATCH_SIZE);
    asker_free(asker);
}

TEST(ten_thousand_are_accepted_while_all_workers_are_stuck)
{
    struct serving *serving = calloc(1, sizeof *serving);
    assert_non_null(serving);
    serving_open(serving, NULL, NULL);
    create_while_stuck(serving);
    gate_open(&serving->gate);
    assert_true(running_await_all(&serving->running, "gated"));
    assert_int_equal(running_count(&serving->running, "gated", PAWL_COMPLETE), BATCHES * BATCH_SIZE);
    assert_int_equal(gate_entered(&serving->gate), BATCHES * BATCH_SIZE); /* each body once */
    serving_close(serving);
    free(serving);
}

int main(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return 1;
    int failed = test_run_all();
    curl_global_cleanup();
    return failed;
}
