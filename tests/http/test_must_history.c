/* test_must_history.c - a history of 5,000 steps, 5,000 events and 5,000 log lines, walked by cursors in both directions while
 * the run goes on: every row that there was at the beginning comes, in its order, none comes twice (contract D).
 *
 * Rows are numbered in the order of their creation, so a walk is right when its numbers follow one another.  Behind every page
 * the run is let go on a little and events are sent, which adds rows of each kind and changes older ones. */
#include "asking.h"
#include "serving.h"

enum { FIRST = 5000, MORE_A_PAGE = 5, PAGE_SIZE = 100, STEPS_MAX = 100000 };

struct saga {
    struct serving serving;
    _Atomic int bodies; /* that have run */
    int more_sent, events_sent;
};

/* ---- The run --------------------------------------------------------------------------------------------------------- */

BODY(note_line)
{
    struct saga *saga = pawl_step_user(step);
    PAWL_TRY(pawl_step_log(step, PAWL_LOG_INFO, NULL, NULL, "line %d", (int)pawl_value_int(input, NULL, -1)));
    atomic_fetch_add(&saga->bodies, 1);
    return pawl_result(step, out_result, "V", input);
}

WORKFLOW(long_run)
{
    for (int i = 0;; i++) {
        pawl_value *number;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &number, "i", i));
        if (i >= FIRST)
            PAWL_TRY(pawl_wait_for_event(run, pawl_run_format(run, "take %d", i), "more", "1 hour", NULL));
        PAWL_TRY(pawl_do(run, pawl_run_format(run, "step %d", i), NULL, note_line, number, NULL));
    }
}

static void send_event(struct saga *saga, const char *type)
{
    struct running *running = &saga->serving.running;
    struct pawl_send_event_options options = PAWL_SEND_EVENT_OPTIONS_INIT;
    char id[32];
    snprintf(id, sizeof id, "event-%d", saga->events_sent++);
    options.type = type;
    options.event_id = id;
    options.payload_json = "{\"n\":1}";
    assert_ok(pawl_send_event(running->engine, NULL, "long", "saga", &options, NULL, &running->error), running->error);
}

static void await_bodies(struct saga *saga)
{
    int64_t until_ms = monotonic_ms() + 3 * PATIENCE_MS;
    while (atomic_load(&saga->bodies) < FIRST + saga->more_sent && monotonic_ms() < until_ms)
        rest_a_little();
    assert_int_equal(atomic_load(&saga->bodies), FIRST + saga->more_sent);
}

static void let_it_go_on(struct saga *saga)
{
    for (int i = 0; i < MORE_A_PAGE; i++) {
        send_event(saga, "note"); /* nobody takes these */
        send_event(saga, "more");
        saga->more_sent++;
    }
    await_bodies(saga);
}

static void saga_open(struct saga *saga)
{
    const struct pawl_workflow workflow = {
        .name = "long", .run = long_run, .limits = { .steps_max = STEPS_MAX }, .user = saga
    };
    serving_open_with(&saga->serving, &workflow, NULL, NULL);
    running_create(&saga->serving.running, "long", "saga");
    while (saga->events_sent < FIRST)
        send_event(saga, "note");
    await_bodies(saga);
    (void)running_await(&saga->serving.running, "long", "saga", PAWL_WAITING); /* and the last is durable */
}

/* ---- Numbers --------------------------------------------------------------------------------------------------------- */

static int step_number(const char *name)
{
    int i = -1;
    if (sscanf(name, "step %d", &i) == 1)
        return i < FIRST ? i : FIRST + 2 * (i - FIRST) + 1;
    if (sscanf(name, "take %d", &i) == 1)
        return FIRST + 2 * (i - FIRST);
    fail_msg("\"%s\" is no step of this run", name);
    return -1;
}

static int event_number(const char *id)
{
    int i = -1;
    if (sscanf(id, "event-%d", &i) != 1)
        fail_msg("\"%s\" is no event of this run", id);
    return i;
}

static int log_number(const char *message)
{
    int i = -1;
    if (sscanf(message, "line %d", &i) != 1)
        fail_msg("\"%s\" is no line of this run", message);
    return i;
}

/* ---- Walks ----------------------------------------------------------------------------------------------------------- */

enum { STEPS, EVENTS, LOGS, KINDS };

static const struct kind {
    const char *rows, *member, *cursor, *has_next;
    int (*number_of)(const char *text);
} kinds[KINDS] = {
    [STEPS] = { "steps", "name", "stepsCursor", "stepsHasNextPage", step_number },
    [EVENTS] = { "events", "id", "eventsCursor", "eventsHasNextPage", event_number },
    [LOGS] = { "logs", "message", "logsCursor", "logsHasNextPage", log_number },
};

/* What stands in the scope. */
typedef const char *fetch_fn(struct saga *saga, pawl_scope *scope, const char *target);

static const char *fetch_from_handler(struct saga *saga, pawl_scope *scope, const char *target)
{
    struct pawl_http_response response = answer_of(saga->serving.http, scope, "GET", target, NULL);
    if (response.status != 200)
        fail_msg("%s: %d %s", target, response.status, response.body);
    return response.body;
}

static const char *fetch_from_socket(struct saga *saga, pawl_scope *scope, const char *target)
{
    struct client client;
    struct answer answer = { 0 };
    client_open(&client, &saga->serving);
    client_ask(&client, target, NULL);
    client_take(&client, &answer);
    if (answer.status != 200)
        fail_msg("%s: %d %s", target, answer.status, answer.body);
    const char *body = pawl_scope_format(scope, "%s", answer.body);
    answer_clear(&answer);
    client_close(&client);
    return body;
}

struct walk {
    struct saga *saga;
    fetch_fn *fetch;
    bool is_ascending;
    struct {
        int first, last; /* numbers; -1: none yet */
        char cursor[512];
        bool is_done;
    } of[KINDS];
    int pages;
};

static void take_rows(struct walk *walk, int k, const pawl_value *page)
{
    const pawl_value *rows = pawl_value_at(page, kinds[k].rows);
    size_t count = pawl_value_size(rows, NULL);
    assert_true(count <= PAGE_SIZE);
    for (size_t i = 0; i < count; i++) {
        int number = kinds[k].number_of(pawl_value_string(pawl_value_item(rows, i), kinds[k].member, ""));
        int last = walk->of[k].last, wanted = walk->is_ascending ? last + 1 : last - 1;
        if (last < 0)
            walk->of[k].first = number;
        else if (number != wanted)
            fail_msg("%s: %d comes behind %d", kinds[k].rows, number, last);
        walk->of[k].last = number;
    }
    walk->of[k].is_done = !pawl_value_bool(page, kinds[k].has_next, true);
    const char *cursor = pawl_value_string(page, kinds[k].cursor, "");
    assert_int_equal(cursor[0] == '\0', walk->of[k].is_done);
    if (!walk->of[k].is_done)
        assert_int_equal(count, PAGE_SIZE);
    assert_true(strlen(cursor) < sizeof walk->of[k].cursor);
    snprintf(walk->of[k].cursor, sizeof walk->of[k].cursor, "%s", cursor);
}

static void take_page(struct walk *walk)
{
    pawl_scope *scope = pawl_scope_new();
    pawl_value *page = NULL;
    assert_non_null(scope);
    const char *target =
        pawl_scope_format(scope, "/api/workflows/long/instances/saga/history?includeLogs=true&pageSize=%d&order=%s",
                          PAGE_SIZE, walk->is_ascending ? "asc" : "desc");
    for (int k = 0; k < KINDS; k++)
        if (walk->of[k].cursor[0] != '\0')
            target = pawl_scope_format(scope, "%s&%s=%s", target, kinds[k].cursor, walk->of[k].cursor);
    const char *body = walk->fetch(walk->saga, scope, target);
    assert_int_equal(pawl_value_parse(scope, body, strlen(body), &page, NULL), PAWL_OK);
    for (int k = 0; k < KINDS; k++)
        if (!walk->of[k].is_done) /* else it begins anew, and is looked past */
            take_rows(walk, k, page);
    walk->pages++;
    pawl_scope_free(scope);
}

/* The number of the newest row of each kind that is there now. */
static void read_newest(struct saga *saga, int out_newest[KINDS])
{
    struct running *running = &saga->serving.running;
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    options.page_size = 1;
    options.order = PAWL_NEWEST_FIRST;
    options.include_logs = true;
    assert_ok(pawl_get_history(running->engine, running->scope, "long", "saga", &options, &history, &running->error),
              running->error);
    out_newest[STEPS] = step_number(history.steps[0].name);
    out_newest[EVENTS] = event_number(history.events[0].id);
    out_newest[LOGS] = log_number(history.logs[0].message);
}

static void walk_while_it_goes_on(struct saga *saga, fetch_fn *fetch, bool is_ascending)
{
    struct walk walk = { .saga = saga, .fetch = fetch, .is_ascending = is_ascending };
    int before[KINDS], after[KINDS];
    for (int k = 0; k < KINDS; k++)
        walk.of[k].first = walk.of[k].last = -1;
    read_newest(saga, before);
    while (!walk.of[STEPS].is_done || !walk.of[EVENTS].is_done || !walk.of[LOGS].is_done) {
        take_page(&walk);
        let_it_go_on(saga);
    }
    read_newest(saga, after);
    assert_true(walk.pages >= FIRST / PAGE_SIZE);
    for (int k = 0; k < KINDS; k++) {
        int oldest = is_ascending ? walk.of[k].first : walk.of[k].last;
        int newest = is_ascending ? walk.of[k].last : walk.of[k].first;
        assert_true(before[k] >= FIRST - 1);
        assert_true(after[k] - before[k] >= walk.pages); /* it did go on */
        assert_int_equal(oldest, 0);
        if (newest < before[k])
            fail_msg("%s: up to %d came, but there were %d", kinds[k].rows, newest, before[k]);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------------------------------- */

static int set_up(void **state)
{
    struct saga *saga = calloc(1, sizeof *saga);
    assert_non_null(saga);
    saga_open(saga);
    *state = saga;
    return 0;
}

static int tear_down(void **state)
{
    struct saga *saga = *state;
    (void)running_await(&saga->serving.running, "long", "saga", PAWL_WAITING); /* the run did not end meanwhile */
    serving_close(&saga->serving);
    free(saga);
    return 0;
}

static void oldest_first_through_the_handler(void **state)
{
    walk_while_it_goes_on(*state, fetch_from_handler, true);
}

static void newest_first_through_the_handler(void **state)
{
    walk_while_it_goes_on(*state, fetch_from_handler, false);
}

static void oldest_first_through_a_socket(void **state)
{
    walk_while_it_goes_on(*state, fetch_from_socket, true);
}

static void newest_first_through_a_socket(void **state)
{
    walk_while_it_goes_on(*state, fetch_from_socket, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oldest_first_through_the_handler),
        cmocka_unit_test(newest_first_through_the_handler),
        cmocka_unit_test(oldest_first_through_a_socket),
        cmocka_unit_test(newest_first_through_a_socket),
    };
    return cmocka_run_group_tests_name("a long history is walked while it grows", tests, set_up, tear_down);
}
