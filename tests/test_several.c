/* The engine on a store made of several databases, for real: runs, events and hooks at every home, pages, steps that
 * create, and a database that is down while the others go on. */
#include "running.h"

#include <sys/wait.h>
#include <unistd.h>

#ifdef PAWL_HAS_POSTGRES
#include <libpq-fe.h>

#include "postgres_server.h"
#endif
#include "store/store.h"

enum { HOMES = 3, RUNS = RUNNING_SLOWLY ? 24 : 60 };

/* An engine on files "<name>.0" and so on, of so many. */
struct stage {
    struct running running;
    char path[64];
    char url[1200];
};

static void stage_open(struct stage *stage)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    options.store_url = stage->url;
    assert_ok(pawl_open(&options, &stage->running.engine, &stage->running.error), stage->running.error);
    stage->running.scope = pawl_scope_new();
    assert_non_null(stage->running.scope);
}

static int set_up(void **state)
{
    static int count;
    struct stage *stage = calloc(1, sizeof *stage);
    size_t used = 0;
    assert_non_null(stage);
    snprintf(stage->path, sizeof stage->path, "several_%d_%d.db", (int)getpid(), ++count);
    for (int i = 0; i < HOMES; i++)
        used += (size_t)snprintf(stage->url + used, sizeof stage->url - used, "%ssqlite:%s.%d", i > 0 ? " " : "",
                                 stage->path, i);
    stage_open(stage);
    *state = stage;
    return 0;
}

static void stage_close(struct stage *stage)
{
    pawl_runner_close(stage->running.runner);
    pawl_close(stage->running.engine);
    pawl_scope_free(stage->running.scope);
    memset(&stage->running, 0, sizeof stage->running);
}

static int tear_down(void **state)
{
    struct stage *stage = *state;
    stage_close(stage);
    for (int i = 0; i < HOMES; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s.%d", stage->path, i);
        remove_database(path);
    }
    free(stage);
    return 0;
}

static size_t home_of(const char *workflow, const char *id)
{
    return pw_home_of(pw_text_of(workflow), pw_text_of(id), HOMES);
}

/* The first id "<start><number>" that lives there. */
static const char *id_at(pawl_scope *scope, const char *workflow, const char *start, size_t home)
{
    for (int i = 0;; i++) {
        const char *id = pawl_scope_format(scope, "%s%d", start, i);
        if (home_of(workflow, id) == home)
            return id;
    }
}

/* ---- Runs -------------------------------------------------------------------------------------------------------- */

static pawl_status one(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    return pawl_result(step, out_result, "i", 1);
}

static pawl_status waiter(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_do(run, "one", NULL, one, NULL, NULL));
    PAWL_TRY(pawl_sleep(run, "rest", "20 ms"));
    PAWL_TRY(pawl_wait_for_event(run, "wait", "go", "1 hour", NULL));
    return pawl_return(run, out_result, "s", "gone");
}

static void send_all(struct running *running, int count)
{
    for (int i = 0; i < count; i++)
        running_send(running, "waiter", pawl_scope_format(running->scope, "w%d", i), "go");
}

/* By two engines, in turns: what one makes due the other may find. */
static void runs_and_events_go_on_at_every_home(void **state)
{
    struct stage *stage = *state, other = { .path = "" };
    size_t homes[HOMES] = { 0 };
    memcpy(other.url, stage->url, sizeof other.url);
    stage_open(&other);
    running_register(&stage->running, "waiter", waiter, NULL);
    running_register(&other.running, "waiter", waiter, NULL);
    running_start(&stage->running, NULL);
    running_start(&other.running, NULL);
    for (int i = 0; i < RUNS; i++) {
        const char *id = pawl_scope_format(stage->running.scope, "w%d", i);
        running_create(i % 2 == 0 ? &stage->running : &other.running, "waiter", id);
        homes[home_of("waiter", id)]++;
    }
    send_all(&other.running, RUNS);
    assert_true(running_await_all(&stage->running, "waiter"));
    assert_int_equal(running_count(&stage->running, "waiter", PAWL_COMPLETE), RUNS);
    for (size_t home = 0; home < HOMES; home++)
        assert_in_range(homes[home], 1, RUNS - 2);
    struct pawl_history history = running_history(&stage->running, "waiter", "w0", 0);
    assert_int_equal(history.step_count, 3);
    stage_close(&other);
}

static void what_was_left_undone_is_done_when_it_is_opened_again(void **state)
{
    struct stage *stage = *state;
    running_register(&stage->running, "waiter", waiter, NULL);
    for (int i = 0; i < HOMES; i++)
        running_create(&stage->running, "waiter", id_at(stage->running.scope, "waiter", "a", (size_t)i));
    stage_close(stage);
    stage_open(stage);
    running_register(&stage->running, "waiter", waiter, NULL);
    running_start(&stage->running, NULL);
    for (int i = 0; i < HOMES; i++) {
        const char *id = id_at(stage->running.scope, "waiter", "a", (size_t)i);
        running_await(&stage->running, "waiter", id, PAWL_WAITING);
        running_send(&stage->running, "waiter", id, "go");
        running_await(&stage->running, "waiter", id, PAWL_COMPLETE);
    }
}

/* Whoever is first names the store; the others find themselves in the same one. */
static void many_processes_may_open_it_for_the_first_time_at_once(void **state)
{
    struct stage *stage = *state;
    pid_t children[6];
    stage_close(stage);
    for (int i = 0; i < HOMES; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s.%d", stage->path, i);
        remove_database(path);
    }
    for (size_t i = 0; i < LENGTH(children); i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            struct pawl_options options = PAWL_OPTIONS_INIT;
            struct pawl_error error;
            pawl_engine *engine = NULL;
            options.store_url = stage->url;
            pawl_status status = pawl_open(&options, &engine, &error);
            pawl_close(engine);
            _exit(status == PAWL_OK ? 0 : 1);
        }
    }
    for (size_t i = 0; i < LENGTH(children); i++) {
        int status = -1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    stage_open(stage);
}

static void a_batch_is_created_wherever_its_instances_live(void **state)
{
    struct stage *stage = *state;
    struct pawl_batch_item items[20];
    struct pawl_instance *created;
    size_t count = 0;
    running_register(&stage->running, "waiter", waiter, NULL);
    running_create(&stage->running, "waiter", "b7");
    for (int i = 0; i < 20; i++)
        items[i] = (struct pawl_batch_item){ .id = pawl_scope_format(stage->running.scope, "b%d", i) };
    assert_ok(pawl_create_batch(stage->running.engine, stage->running.scope, "waiter", items, 20, &created, &count,
                                &stage->running.error),
              stage->running.error);
    assert_int_equal(count, 19);
    for (size_t i = 0; i < count; i++)
        assert_string_not_equal(created[i].id, "b7");
    assert_int_equal(running_count(&stage->running, "waiter", PAWL_ACTIVE), 20);
}

/* ---- Deliveries -------------------------------------------------------------------------------------------------- */

static atomic_int delivered;

static pawl_status deliver(const struct pawl_delivery *delivery, void *user, struct pawl_error *error)
{
    (void)delivery;
    (void)user;
    (void)error;
    atomic_fetch_add(&delivered, 1);
    return PAWL_OK;
}

static pawl_status quick(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    return pawl_return(run, out_result, "i", 1);
}

static void hooks_are_told_of_every_home(void **state)
{
    struct stage *stage = *state;
    struct pawl_hook hook = PAWL_HOOK_INIT;
    pawl_courier *courier = NULL;
    atomic_store(&delivered, 0);
    hook.name = "mail";
    hook.events = PAWL_HOOK_FINISHED;
    hook.deliver = deliver;
    assert_ok(pawl_hook_register(stage->running.engine, &hook, &stage->running.error), stage->running.error);
    running_register(&stage->running, "quick", quick, NULL);
    assert_ok(pawl_courier_start(stage->running.engine, 2, &courier, &stage->running.error), stage->running.error);
    running_start(&stage->running, NULL);
    for (int i = 0; i < RUNS; i++)
        running_create(&stage->running, "quick", pawl_scope_format(stage->running.scope, "q%d", i));
    assert_true(running_await_all(&stage->running, "quick"));
    for (int64_t until_ms = monotonic_ms() + PATIENCE_MS; atomic_load(&delivered) < RUNS && monotonic_ms() < until_ms;)
        rest_a_little();
    assert_int_equal(atomic_load(&delivered), RUNS);
    pawl_courier_stop(courier);
}

/* ---- Steps that create ------------------------------------------------------------------------------------------- */

struct wish {
    const char *id, *event_to; /* NULL: none */
};

static pawl_status wishing_body(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    const struct wish *wish = pawl_step_user(step);
    (void)input;
    if (wish->event_to != NULL)
        PAWL_TRY(pawl_step_send_event(step, "waiter", wish->event_to, "go", NULL));
    else
        PAWL_TRY(pawl_step_create(step, "waiter", wish->id, NULL));
    return pawl_result(step, out_result, "i", 1);
}

static pawl_status wishing(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)params;
    PAWL_TRY(pawl_do(run, "wish", NULL, wishing_body, NULL, NULL));
    return pawl_return(run, out_result, "i", 1);
}

static void await_wish(struct stage *stage, const char *id, enum pawl_instance_status status)
{
    running_create(&stage->running, "wishing", id);
    struct pawl_instance instance = running_await(&stage->running, "wishing", id, status);
    if (status != PAWL_ERRORED)
        return;
    assert_string_equal(instance.error_name, "INVALID");
    assert_non_null(strstr(instance.error_message, "lives in another database than this run"));
    assert_non_null(strstr(instance.error_message, "pawl_send_event()"));
}

/* What a step changes stays in one database.  Without an id, one is found that lives there. */
static void a_step_creates_and_sends_at_its_own_home_only(void **state)
{
    struct stage *stage = *state;
    struct wish wish = { NULL, NULL };
    pawl_scope *scope = stage->running.scope;
    running_register(&stage->running, "waiter", waiter, NULL);
    running_register(&stage->running, "wishing", wishing, &wish);
    running_start(&stage->running, NULL);
    for (size_t home = 0; home < HOMES; home++)
        await_wish(stage, id_at(scope, "wishing", "free", home), PAWL_COMPLETE);
    wish.id = id_at(scope, "waiter", "near", 1);
    await_wish(stage, id_at(scope, "wishing", "near", 1), PAWL_COMPLETE);
    wish.id = id_at(scope, "waiter", "far", 2);
    await_wish(stage, id_at(scope, "wishing", "far", 1), PAWL_ERRORED);
    struct pawl_instance none;
    assert_int_equal(pawl_get(stage->running.engine, scope, "waiter", wish.id, &none, NULL), PAWL_INSTANCE_NOT_FOUND);
    wish.event_to = id_at(scope, "waiter", "near", 1);
    await_wish(stage, id_at(scope, "wishing", "tell", 1), PAWL_COMPLETE);
    running_await(&stage->running, "waiter", wish.event_to, PAWL_COMPLETE);
    await_wish(stage, id_at(scope, "wishing", "tell", 2), PAWL_ERRORED);
    assert_int_equal(running_count(&stage->running, "waiter", PAWL_COMPLETE), 1);
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

static pawl_status list(struct stage *stage, const struct pawl_list_options *options, struct pawl_instance_page *page)
{
    return pawl_list(stage->running.engine, stage->running.scope, "quick", options, page, &stage->running.error);
}

static void pages_list_every_instance_once_in_both_directions(void **state)
{
    struct stage *stage = *state;
    running_register(&stage->running, "quick", quick, NULL);
    for (int i = 0; i < 40; i++)
        running_create(&stage->running, "quick", pawl_scope_format(stage->running.scope, "q%d", i));
    for (int32_t page_size = 1; page_size <= 41; page_size += 1 + page_size / 3) {
        for (int oldest = 0; oldest < 2; oldest++) {
            struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
            bool seen[40] = { false };
            size_t listed = 0;
            options.page_size = page_size;
            options.order = oldest == 1 ? PAWL_OLDEST_FIRST : PAWL_NEWEST_FIRST;
            do {
                struct pawl_instance_page page;
                assert_ok(list(stage, &options, &page), stage->running.error);
                for (size_t i = 0; i < page.count; i++) {
                    int number = atoi(page.instances[i].id + 1);
                    assert_false(seen[number]);
                    seen[number] = true;
                    listed++;
                }
                options.cursor = page.cursor;
            } while (options.cursor != NULL);
            assert_int_equal(listed, 40);
        }
    }
}

static void a_cursor_of_another_number_of_databases_is_refused(void **state)
{
    struct stage *stage = *state;
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    struct running single;
    running_register(&stage->running, "quick", quick, NULL);
    running_open_path(&single, "");
    running_register(&single, "quick", quick, NULL);
    for (int i = 0; i < 3; i++) {
        running_create(&stage->running, "quick", pawl_scope_format(stage->running.scope, "q%d", i));
        running_create(&single, "quick", pawl_scope_format(single.scope, "q%d", i));
    }
    options.page_size = 1;
    assert_ok(pawl_list(single.engine, single.scope, "quick", &options, &page, &single.error), single.error);
    options.cursor = page.cursor;
    assert_int_equal(list(stage, &options, &page), PAWL_INVALID_CURSOR);
    assert_non_null(strstr(stage->running.error.text, "another number of databases, 1; this one has 3"));
    options.cursor = NULL;
    assert_ok(list(stage, &options, &page), stage->running.error);
    options.cursor = page.cursor;
    assert_int_equal(pawl_list(single.engine, single.scope, "quick", &options, &page, &single.error),
                     PAWL_INVALID_CURSOR);
    options.page_size = 100; /* nor one that was tampered with */
    char *bent = (char *)pawl_scope_format(stage->running.scope, "%s", options.cursor);
    bent[10] = bent[10] == 'A' ? 'B' : 'A';
    options.cursor = bent;
    assert_int_equal(list(stage, &options, &page), PAWL_INVALID_CURSOR);
    running_close(&single);
}

/* ---- PostgreSQL -------------------------------------------------------------------------------------------------- */

#ifdef PAWL_HAS_POSTGRES

/* Two schemas of the tests' server, and a database of a server of our own, which is stopped and started. */
static struct postgres_server server;

static void drop_schemas(const char *socket)
{
    const char *names[] = { "host", "user", "dbname", NULL }, *values[] = { socket, "pawl", "postgres", NULL };
    PGconn *db = PQconnectdbParams(names, values, 0);
    assert_int_equal(PQstatus(db), CONNECTION_OK);
    PQclear(PQexec(db, "SET client_min_messages = warning"));
    for (const char *schema = "ab"; *schema != '\0'; schema++) {
        char sql[96];
        snprintf(sql, sizeof sql, "DROP SCHEMA IF EXISTS several_%c_%d CASCADE", *schema, (int)getpid());
        PQclear(PQexec(db, sql));
    }
    PQfinish(db);
}

static int set_up_postgres(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    const char *socket = postgres_server_socket();
    assert_non_null(stage);
    assert_non_null(socket);
    assert_true(postgres_server_start(&server, getpid(), false));
    drop_schemas(socket);
    snprintf(stage->url, sizeof stage->url,
             "postgres://pawl@/postgres?host=%s&pawl_schema=several_a_%d&pawl_busy_ms=1000 "
             "postgres://pawl@/postgres?host=%s&pawl_schema=several_b_%d&pawl_busy_ms=1000 "
             "postgres://pawl@/postgres?host=%s&pawl_busy_ms=1000",
             socket, (int)getpid(), socket, (int)getpid(), server.folder);
    stage_open(stage);
    *state = stage;
    return 0;
}

static int tear_down_postgres(void **state)
{
    struct stage *stage = *state;
    stage_close(stage);
    postgres_server_stop(&server);
    drop_schemas(postgres_server_socket());
    free(stage);
    return 0;
}

/* Those of the one that is down stand still, their calls say so, and everybody else goes on; then they go on as well. */
static void a_server_that_is_down_stops_nobody_elses_runs(void **state)
{
    struct stage *stage = *state;
    struct running *running = &stage->running;
    struct pawl_instance instance;
    running_register(running, "waiter", waiter, NULL);
    running_start(running, NULL);
    for (size_t home = 0; home < HOMES; home++) {
        running_create(running, "waiter", id_at(running->scope, "waiter", "a", home));
        running_await(running, "waiter", id_at(running->scope, "waiter", "a", home), PAWL_WAITING);
    }
    assert_true(postgres_server_order(&server, POSTGRES_SERVER_DOWN));
    pawl_status status = PAWL_OK;
    int64_t until_ms = monotonic_ms() + PATIENCE_MS;
    while (status == PAWL_OK && monotonic_ms() < until_ms) /* a backend may outlive its server for a moment */
        status = pawl_get(running->engine, running->scope, "waiter", id_at(running->scope, "waiter", "a", 2), &instance,
                          &running->error);
    assert_int_equal(status, PAWL_STORE_UNAVAILABLE);
    for (size_t home = 0; home < 2; home++) {
        const char *id = id_at(running->scope, "waiter", "a", home);
        running_send(running, "waiter", id, "go");
        running_await(running, "waiter", id, PAWL_COMPLETE);
        id = id_at(running->scope, "waiter", "b", home); /* with a sleep in it, which is claimed and not handed over */
        running_create(running, "waiter", id);
        running_await(running, "waiter", id, PAWL_WAITING);
        running_send(running, "waiter", id, "go");
        running_await(running, "waiter", id, PAWL_COMPLETE);
    }
    struct pawl_create_options options = PAWL_CREATE_OPTIONS_INIT;
    options.id = id_at(running->scope, "waiter", "b", 2);
    assert_int_equal(pawl_create(running->engine, running->scope, "waiter", &options, &instance, &running->error),
                     PAWL_STORE_UNAVAILABLE);
    struct pawl_backlog backlog = { .struct_size = sizeof backlog };
    assert_ok(pawl_backlog_read(running->engine, &backlog, &running->error), running->error);
    assert_int_equal(backlog.waiting, 0);

    assert_true(postgres_server_order(&server, POSTGRES_SERVER_UP));
    const char *id = id_at(running->scope, "waiter", "a", 2);
    for (until_ms = monotonic_ms() + PATIENCE_MS;
         pawl_get(running->engine, running->scope, "waiter", id, &instance, &running->error) != PAWL_OK;) {
        assert_true(monotonic_ms() < until_ms);
        rest_a_little();
    }
    running_await(running, "waiter", id, PAWL_WAITING);
    running_send(running, "waiter", id, "go");
    running_await(running, "waiter", id, PAWL_COMPLETE);
}

static void databases_of_two_kinds_are_not_one_store(void **state)
{
    struct stage *stage = *state;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    pawl_engine *engine = NULL;
    options.store_url = pawl_scope_format(stage->running.scope, "sqlite::memory: %s", stage->url);
    assert_int_equal(pawl_open(&options, &engine, &stage->running.error), PAWL_INVALID);
    assert_non_null(strstr(stage->running.error.text, "database 2 of the 4 named is of another kind"));
}

/* The seats of PostgreSQL databases hold as those of files do. */
static void servers_keep_their_order(void **state)
{
    struct stage *stage = *state;
    struct pawl_options options = PAWL_OPTIONS_INIT;
    pawl_engine *engine = NULL;
    const char *third = strrchr(stage->url, ' ') + 1;
    options.store_url = third;
    assert_int_equal(pawl_open(&options, &engine, &stage->running.error), PAWL_INVALID);
    assert_non_null(strstr(stage->running.error.text, "number 3 of 3"));
    options.store_url =
        pawl_scope_format(stage->running.scope, "%s %.*s", third, (int)(third - stage->url - 1), stage->url);
    assert_int_equal(pawl_open(&options, &engine, &stage->running.error), PAWL_INVALID);
    assert_non_null(strstr(stage->running.error.text, "database 1 of the 3 named is number 3 of 3"));
    stage_close(stage);
    stage_open(stage);
}

#endif

#define ON_FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define ON_SERVERS(test) cmocka_unit_test_setup_teardown(test, set_up_postgres, tear_down_postgres)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_FILES(runs_and_events_go_on_at_every_home),
        ON_FILES(what_was_left_undone_is_done_when_it_is_opened_again),
        ON_FILES(many_processes_may_open_it_for_the_first_time_at_once),
        ON_FILES(a_batch_is_created_wherever_its_instances_live),
        ON_FILES(hooks_are_told_of_every_home),
        ON_FILES(a_step_creates_and_sends_at_its_own_home_only),
        ON_FILES(pages_list_every_instance_once_in_both_directions),
        ON_FILES(a_cursor_of_another_number_of_databases_is_refused),
#ifdef PAWL_HAS_POSTGRES
        ON_SERVERS(a_server_that_is_down_stops_nobody_elses_runs),
        ON_SERVERS(databases_of_two_kinds_are_not_one_store),
        ON_SERVERS(servers_keep_their_order),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
