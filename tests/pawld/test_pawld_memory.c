/* test_pawld_memory.c - what a burst of large requests took is given back once pawld has nothing to do. */
#include "kit.h"

#include <curl/curl.h>

enum { CLIENTS = 64, ROUNDS = 3, PARAMS_BYTES = 60000, BATCH = 64, PEAK_KIB_MIN = 256 * 1024 };

/* "VmRSS:" or "VmHWM:", which is the most that it ever was, in KiB. */
static long memory_of(const struct pawld *pawld, const char *which)
{
    char path[64], line[256];
    long found = -1;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pawld->process);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, which, strlen(which)) == 0)
            found = strtol(line + strlen(which), NULL, 10);
    (void)fclose(file);
    assert_true(found > 0);
    return found;
}

struct client {
    pthread_t thread;
    char url[512];
    const char *body;
    int done;
};

static size_t drop(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes, (void)user;
    return size * count;
}

/* Threads of the test must not fail it. */
static void *send_large_bodies(void *user)
{
    struct client *client = user;
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_URL, client->url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, client->body);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    for (int i = 0; i < ROUNDS; i++) {
        long status = 0;
        if (curl_easy_perform(curl) == CURLE_OK)
            curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        client->done += status == 200;
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return NULL;
}

/* {"instances": [{"id": "i-0", "params": "xxx..."}, ...]}.  All send the same: what is there already is left alone. */
static char *make_body(void)
{
    char *body = malloc((size_t)BATCH * (PARAMS_BYTES + 64) + 64), *at = body;
    assert_non_null(body);
    at += sprintf(at, "{\"instances\": [");
    for (int i = 0; i < BATCH; i++) {
        at += sprintf(at, "%s{\"id\": \"i-%d\", \"params\": \"", i > 0 ? ", " : "", i);
        memset(at, 'x', PARAMS_BYTES);
        at += PARAMS_BYTES;
        at += sprintf(at, "\"}");
    }
    (void)sprintf(at, "]}");
    return body;
}

TEST_OF(kit, memory_that_is_free_is_given_back)
{
    struct pawld *pawld = PAWLD_SERVE(kit, "--store", "sqlite:pawl.db?synchronous=normal", GATES);
    struct client clients[CLIENTS] = { 0 };
    char *body = make_body();
    int done = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].body = body;
        (void)snprintf(clients[i].url, sizeof clients[i].url, "%s/workflows/nap/instances/batch", pawld->base);
        assert_int_equal(pthread_create(&clients[i].thread, NULL, send_large_bodies, &clients[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_join(clients[i].thread, NULL), 0);
        done += clients[i].done;
    }
    free(body);
    assert_true(done > 0);
    long peak_kib = memory_of(pawld, "VmHWM:"), left_kib = 0;
    assert_true(peak_kib > PEAK_KIB_MIN); /* otherwise this shows nothing */

    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; monotonic_ms() < until_ms; rest_a_little()) {
        left_kib = memory_of(pawld, "VmRSS:");
        if (left_kib < peak_kib / 4) /* the allocator keeps some pages that are used in part */
            return;
    }
    fail_msg("%ld KiB are resident at idle, after a peak of %ld", left_kib, peak_kib);
}

int main(void)
{
    if (RUNNING_SLOWLY) /* a sanitizer has a heap of its own */
        return 0;
    return test_run_all();
}
