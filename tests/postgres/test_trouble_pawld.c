/* test_trouble_pawld.c - pawld on PostgreSQL, from outside: started, asked over HTTP, drained, killed at random; without a
 * store it says why in one line, and while the server is away it says 503; while it is silent, pawld itself is not. */
#include "kit.h"
#include "trouble.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PROCESSES = 2, RUNS = RUNNING_SLOWLY ? 60 : 120, KILLS = 6 };

static struct trouble trouble;
static struct postgres_server own;

static int set_up(void **state)
{
    if (kit_set_up(state) != 0)
        return -1;
    trouble_open(&trouble, postgres_server_socket(), "");
    return 0;
}

static int set_up_own(void **state)
{
    if (kit_set_up(state) != 0 || !postgres_server_start(&own, getpid(), false))
        return -1;
    trouble_open(&trouble, own.folder, "&pawl_busy_ms=500");
    return 0;
}

/* It is silent for as long as the test likes: pawld does not lose its patience before. */
static int set_up_patient(void **state)
{
    if (kit_set_up(state) != 0 || !postgres_server_start(&own, getpid(), false))
        return -1;
    trouble_open(&trouble, own.folder, "&pawl_busy_ms=60000");
    return 0;
}

static int tear_down(void **state)
{
    if (own.guardian > 0)
        postgres_server_thaw(&own);
    int left = kit_tear_down(state);
    trouble_close(&trouble);
    if (own.guardian > 0)
        postgres_server_stop(&own);
    own.guardian = 0;
    return left;
}

static const struct test_setting with_patience = { set_up_patient, tear_down, 0 };

static const struct test_setting with_own_server = { set_up_own, tear_down, 0 };

static const struct test_setting with_server = { set_up, tear_down, 0 };

static struct pawld *serve(struct kit *kit)
{
    struct pawld *pawld = PAWLD_START(kit, "--store", trouble.url, "--listen", "127.0.0.1:0", BUSY_MODULE);
    pawld_await_base(pawld);
    return pawld;
}

/* Makes room for another one in the kit. */
static void kill_and_forget(struct kit *kit, struct pawld *pawld)
{
    pawld_kill(pawld, SIGKILL);
    assert_int_equal(pawld_await_end(pawld), 128 + SIGKILL);
    for (size_t i = 0; i < kit->count; i++) {
        if (kit->processes[i] != pawld)
            continue;
        kit->processes[i] = kit->processes[kit->count - 1];
        kit->processes[kit->count - 1] = pawld;
        pawld_forget(kit);
        return;
    }
}

/* Asked of one, then of the other, until one has answered. */
static void ask_patiently(struct kit *kit, const char *url, const char *body)
{
    struct answer answer = { .status = 0 };
    for (int64_t until_ms = monotonic_ms() + SLOW_MS; monotonic_ms() < until_ms; rest_a_little()) {
        answer = ask(kit, kit->processes[trouble_chance(&trouble, PROCESSES)], "POST", url, body, NULL);
        if (answer.status == 200 || answer.status == 201)
            return;
        if (answer.status != 0 && answer.status != 503)
            break;
    }
    fail_msg("%s: %ld %s", url, answer.status, answer.body != NULL ? answer.body : "");
}

static void create_and_send(struct kit *kit, int n)
{
    ask_patiently(kit, "/workflows/busy/instances",
                  pawl_scope_format(kit->scope,
                                    "{\"id\":\"r-%d\",\"params\":{\"n\":%d,\"nap\":%d},\"onConflict\":\"return\"}", n,
                                    n, n * 7919 % 800));
    ask_patiently(kit, pawl_scope_format(kit->scope, "/workflows/busy/instances/r-%d/events", n),
                  pawl_scope_format(kit->scope, "{\"type\":\"go\",\"payload\":%d,\"id\":\"once\"}", n));
}

/* ---- Tests -------------------------------------------------------------------------------------------------------- */

TEST_IN(with_server, kit, every_run_ends_rightly_while_daemons_are_killed) /* C1, C3 */
{
    for (int i = 0; i < PROCESSES; i++)
        (void)serve(kit);
    for (int n = 0; n < RUNS; n++) {
        create_and_send(kit, n);
        if (n % (RUNS / KILLS) != RUNS / KILLS / 2)
            continue;
        kill_and_forget(kit, kit->processes[trouble_chance(&trouble, PROCESSES)]);
        (void)serve(kit);
    }

    trouble_await_complete(&trouble, RUNS, SLOW_MS);

    for (int i = 0; i < PROCESSES; i++) {
        struct pawld *pawld = kit->processes[i];
        await_status(kit, pawld, "busy", "r-0", "complete");
        pawld_kill(pawld, SIGTERM);
        assert_int_equal(pawld_await_end(pawld), 0);
        pawld_await(pawld, "stopped after");
    }
    assert_all_is_well(&trouble, RUNS);
}

TEST_IN(with_server, kit, SIGTERM_drains_and_gives_the_leases_back)
{
    struct pawld *pawld = serve(kit);
    create(kit, pawld, "busy", "a", "{\"n\":1,\"nap\":1}");
    trouble_await(&trouble, "SELECT count(*) FROM workflow_steps WHERE name = 'wait' AND status = 'waiting'", 1,
                  PATIENCE_MS);

    pawld_kill(pawld, SIGTERM);

    assert_int_equal(pawld_await_end(pawld), 0);
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM workflow_task WHERE processing = 1"), 0);
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM workflow_runner WHERE heartbeat_at > 0"), 0);
    assert_int_equal(trouble_number(&trouble, "SELECT count(*) FROM workflow_receipt"), 0);
}

TEST_IN(with_server, kit, a_store_that_cannot_be_used_is_one_line_and_the_end)
{
    static const struct {
        const char *store, *says;
    } cases[] = {
        { "postgres:///none?host=/nowhere&pawl_busy_ms=100", "/nowhere" },
        { "postgres:///x?pawl_lanes=0", "pawl_lanes=<1 to 64>" },
        { "postgres:///x?pawl_pooler=session", "pawl_pooler=<transaction or none>" },
        { "postgres://[bad", "store URL" },
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pawld *pawld;
        int code = PAWLD_RUN(kit, &pawld, "--store", cases[i].store, "--listen", "127.0.0.1:0", BUSY_MODULE);
        assert_true(code == 1 || code == 2);
        assert_one_line(pawld, cases[i].says);
        pawld_forget(kit);
    }
}

TEST_IN(with_own_server, kit, while_the_server_is_away_the_answer_is_503_and_then_all_goes_on) /* C8 */
{
    struct pawld *pawld = serve(kit);
    await_ready(kit, pawld, 200, "ready");
    assert_true(postgres_server_order(&own, POSTGRES_SERVER_DOWN));

    await_ready(kit, pawld, 503, "");
    struct answer answer = ask(kit, pawld, "POST", "/workflows/busy/instances", "{\"id\":\"r-0\"}", NULL);
    assert_int_equal(answer.status, 503);
    assert_true(answer.retry_after_s > 0);
    assert_string_equal(pawl_value_string(answer.value, "code", ""), "STORE_UNAVAILABLE");

    assert_true(postgres_server_order(&own, POSTGRES_SERVER_UP));
    await_ready(kit, pawld, 200, "ready");
    kit->processes[1] = pawld; /* the only one that there is to ask */
    create_and_send(kit, 0);
    kit->processes[1] = NULL;
    await_status(kit, pawld, "busy", "r-0", "complete");
    assert_all_is_well(&trouble, 1);
}

/* ---- A server that is there, and silent ----------------------------------------------------------------------------- */

enum { EACH = 6, FROZEN_MAX = 10 * EACH };

/* One client that asks while the server is silent. */
struct frozen {
    const struct pawld *pawld;
    const char *method, *url, *body;
    pthread_t thread;
    struct kit kit; /* its own, for the memory */
    struct answer answer;
};

static atomic_int frozen_answered;

static void *ask_frozen(void *user)
{
    struct frozen *frozen = user;
    frozen->answer = ask(&frozen->kit, frozen->pawld, frozen->method, frozen->url, frozen->body, NULL);
    atomic_fetch_add(&frozen_answered, 1);
    return NULL;
}

static int start_asking(const struct pawld *pawld, struct frozen *clients)
{
#define R0 "/workflows/busy/instances/r-0"
    static const char *const asked[][3] = {
        { "GET", R0, NULL },
        { "GET", R0 "/result?waitMs=100", NULL },
        { "GET", R0 "/history", NULL },
        { "GET", "/workflows/busy/instances", NULL },
        { "GET", "/status", NULL },
        { "GET", "/metrics", NULL },
        { "GET", "/cluster", NULL },
        { "POST", "/workflows/busy/instances", "{\"params\":{\"n\":1,\"nap\":1}}" },
        { "POST", R0 "/events", "{\"type\":\"other\"}" },
        { "POST", R0 "/pause", "{}" },
    };
    int count = 0;
    for (int i = 0; i < EACH; i++)
        for (size_t of = 0; of < LENGTH(asked); of++) {
            struct frozen *client = &clients[count++];
            *client = (struct frozen){ .pawld = pawld };
            client->method = asked[of][0];
            client->url = asked[of][1];
            client->body = asked[of][2];
            client->kit.scope = pawl_scope_new();
            assert_non_null(client->kit.scope);
            assert_int_equal(pthread_create(&client->thread, NULL, ask_frozen, client), 0);
        }
    return count;
}

/* What needs nothing of the store is answered while it is silent, however many wait for it.  Of those some are told so after a
 * while; the others have their answers once the server goes on. */
TEST_IN(with_patience, kit, while_the_server_is_silent_what_needs_no_store_is_answered)
{
    static const char *const open[] = { "/health/live", "/health", "/version", "/workflows", "/openapi.json" };
    static struct frozen clients[FROZEN_MAX];
    struct pawld *pawld = serve(kit);
    create(kit, pawld, "busy", "r-0", "{\"n\":0,\"nap\":1}");
    assert_int_equal(ask(kit, pawld, "GET", "/health/live", NULL, NULL).status, 200);
    atomic_store(&frozen_answered, 0);
    assert_true(postgres_server_freeze(&own));

    int count = start_asking(pawld, clients);
    do { /* until some were told that nobody can be asked: by then all others have come, too */
        for (size_t i = 0; i < LENGTH(open); i++)
            assert_int_equal(ask(kit, pawld, "GET", open[i], NULL, NULL).status, 200);
    } while (atomic_load(&frozen_answered) == 0);
    assert_true(atomic_load(&frozen_answered) < count);
    for (size_t i = 0; i < LENGTH(open); i++)
        assert_int_equal(ask(kit, pawld, "GET", open[i], NULL, NULL).status, 200);
    assert_int_equal(ask(kit, pawld, "GET", "/health/ready", NULL, NULL).status, 503);

    postgres_server_thaw(&own);
    int refused = 0;
    for (int i = 0; i < count; i++) {
        struct frozen *client = &clients[i];
        assert_int_equal(pthread_join(client->thread, NULL), 0);
        bool is_refused = client->answer.status == 503;
        refused += is_refused;
        if (is_refused)
            assert_string_equal(pawl_value_string(client->answer.value, "code", ""), "STORE_UNAVAILABLE");
        assert_true(!is_refused || client->answer.retry_after_s > 0);
        assert_true(client->answer.status != 0);
        pawl_scope_free(client->kit.scope);
    }
    assert_true(refused > 0 && refused < count);
    await_ready(kit, pawld, 200, "ready");
}
