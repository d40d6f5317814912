/* demo.c - the program behind `make demo`: twenty orders of ten steps each, on two workers, that survive kill -9.
 *
 *     ./demo       runs about 15 seconds, in pawl-demo.db.  Kill it in the middle, start it again, and it goes on.
 *
 * It counts two things to show what Pawl promises.  Each body notes its start in pawl-demo.bodies.  A body that a
 * kill cuts off runs again, so there may be a few more starts than steps.  And each step counts itself in a table
 * with pawl_step_sql().  That is part of the step's completion, so it happens exactly once, however often the
 * program is killed. */
#include <pawl/pawl.h>
#include <string.h>

#include "host.h"

enum { ORDERS = 20, BODIES = 8, STEPS = BODIES + 2, WORKERS = 2 };

static const char *const body_names[BODIES] = { "check the address", "reserve the goods", "write the invoice",
                                                "book the payment",  "fetch the goods",   "pack the box",
                                                "print the label",   "hand it over" };

/* ---- The workflows ------------------------------------------------------------------------------------------------- */

static void note(const char *kind, long long number)
{
    FILE *file = fopen("pawl-demo.bodies", "a");
    if (file == NULL)
        return;
    fprintf(file, "%s %lld\n", kind, number);
    fclose(file);
}

/* input: {"order": 7, "position": 2} */
static pawl_status work(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    long long order = pawl_value_int(input, "order", 0), position = pawl_value_int(input, "position", 0);
    note("body", order);
    host_pause_ms((long)(130 + (order * 37 + position * 61) % 101));
    if (position == 0)
        PAWL_TRY(pawl_step_sql(step,
                               "CREATE TABLE IF NOT EXISTS demo_step"
                               " (number INTEGER, position INTEGER, times INTEGER, PRIMARY KEY (number, position))",
                               NULL));
    PAWL_TRY(pawl_step_sql(step, "INSERT INTO demo_step VALUES ($1, $2, 1) ON CONFLICT DO UPDATE SET times = times + 1",
                           "[I, I]", order, position));
    return pawl_result(step, out_result, "b", 1);
}

static pawl_status order(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    for (int i = 0; i < BODIES; i++) {
        pawl_value *input;
        PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:V, s:i}", "order", pawl_value_at(params, "order"),
                                 "position", i));
        if (i == 3)
            PAWL_TRY(pawl_wait_for_event(run, "await payment", "payment", "1 hour", NULL));
        if (i == 7)
            PAWL_TRY(pawl_sleep(run, "wait for the van", "500 ms"));
        PAWL_TRY(pawl_do(run, body_names[i], NULL, work, input, NULL));
    }
    return PAWL_OK;
}

/* Lets the database check, in SQL, that every step of the orders was counted exactly once. */
static pawl_status judge(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    (void)out_result;
    PAWL_TRY(pawl_step_sql(step,
                           "CREATE TABLE IF NOT EXISTS demo_audit (wanted INTEGER, steps INTEGER, times INTEGER,"
                           " CHECK (steps = wanted AND times = wanted))",
                           NULL));
    return pawl_step_sql(step,
                         "INSERT INTO demo_audit SELECT $1, count(*), sum(times) FROM demo_step WHERE number >= $2",
                         "[i, V]", ORDERS * BODIES, pawl_value_at(params, "first"));
}

static pawl_status audit(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    static const struct pawl_step_options once = { .retries = PAWL_NO_RETRIES };
    return pawl_do(run, "count in the database", &once, judge, params, out_result);
}

PAWL_MODULE({ .name = "demo-order", .run = order, .description = "One order of the demonstration" },
            { .name = "demo-audit", .run = audit, .description = "Checks the demonstration's own table" });

/* ---- The host ------------------------------------------------------------------------------------------------------ */

#ifndef PAWL_NO_MAIN
#include <unistd.h>

struct demo {
    struct host host;
    long long first; /* the number of this batch's first order */
    size_t shown[ORDERS];
    bool paid[ORDERS], ended[ORDERS];
};

static const char *order_id(struct demo *demo, size_t position)
{
    return pawl_scope_format(demo->host.scope, "order-%lld", demo->first + (long long)position);
}

/* All twenty are created in one unit of work, so either all of them exist or none. */
static pawl_status create_orders(struct demo *demo)
{
    struct pawl_batch_item items[ORDERS];
    struct pawl_instance *created;
    size_t count;
    for (size_t i = 0; i < ORDERS; i++) {
        items[i].id = order_id(demo, i);
        items[i].params_json = pawl_scope_format(demo->host.scope, "{\"order\": %lld}", demo->first + (long long)i);
    }
    return pawl_create_batch(demo->host.engine, demo->host.scope, "demo-order", items, ORDERS, &created, &count,
                             &demo->host.error);
}

/* Goes on with the orders that the last process left, or creates new ones. */
static pawl_status begin(struct demo *demo)
{
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    long long newest = 0;
    int unfinished = 0;
    options.page_size = ORDERS;
    PAWL_TRY(pawl_list(demo->host.engine, demo->host.scope, "demo-order", &options, &page, &demo->host.error));
    for (size_t i = 0; i < page.count; i++)
        unfinished += page.instances[i].status < PAWL_COMPLETE;
    if (page.count > 0)
        sscanf(page.instances[0].id, "order-%lld", &newest);
    if (unfinished > 0) {
        demo->first = newest - ORDERS + 1;
        printf("Found %d unfinished runs from last time; going on.\n", unfinished);
        return PAWL_OK;
    }
    demo->first = newest + 1;
    printf("Starting %d orders of %d steps each, with %d workers.\n", ORDERS, STEPS, WORKERS);
    return create_orders(demo);
}

/* Prints what has become durable since the last look, and pays if the order waits for its payment. */
static pawl_status look(struct demo *demo, size_t position, bool silently)
{
    struct pawl_history_options options = PAWL_HISTORY_OPTIONS_INIT;
    struct pawl_history history;
    struct pawl_instance instance;
    struct host *host = &demo->host;
    const char *id = order_id(demo, position);
    options.page_size = 100;
    PAWL_TRY(pawl_get(host->engine, host->scope, "demo-order", id, &instance, &host->error));
    PAWL_TRY(pawl_get_history(host->engine, host->scope, "demo-order", id, &options, &history, &host->error));
    for (size_t i = 0; i < history.step_count; i++) {
        const struct pawl_step_record *step = &history.steps[i];
        if (step->status == PAWL_STEP_COMPLETED && i >= demo->shown[position]) {
            demo->shown[position] = i + 1;
            if (!silently)
                printf("%-9s %2zu/%d  %s\n", id, i + 1, STEPS, step->name);
        }
        if (step->kind == PAWL_STEP_EVENT && step->status == PAWL_STEP_WAITING && !demo->paid[position]) {
            PAWL_TRY(host_send_event(host, "demo-order", id, "payment", "payment", NULL));
            demo->paid[position] = true;
        }
    }
    demo->ended[position] = instance.status >= PAWL_COMPLETE;
    return PAWL_OK;
}

static pawl_status watch(struct demo *demo)
{
    size_t unfinished = ORDERS;
    for (bool silently = true; unfinished > 0; silently = false) {
        unfinished = 0;
        for (size_t i = 0; i < ORDERS; i++) {
            if (!demo->ended[i])
                PAWL_TRY(look(demo, i, silently));
            unfinished += !demo->ended[i];
        }
        fflush(stdout);
        pawl_scope_free(demo->host.scope);
        demo->host.scope = pawl_scope_new();
        if (unfinished > 0)
            host_pause_ms(50);
    }
    return PAWL_OK;
}

static void count_notes(long long first, int *out_bodies, int *out_starts)
{
    FILE *file = fopen("pawl-demo.bodies", "r");
    char kind[8];
    long long number;
    *out_bodies = *out_starts = 0;
    while (file != NULL && fscanf(file, "%7s %lld", kind, &number) == 2) {
        if (number >= first)
            ++*(strcmp(kind, "body") == 0 ? out_bodies : out_starts);
    }
    if (file != NULL)
        fclose(file);
}

static pawl_status summarise(struct demo *demo)
{
    struct host *host = &demo->host;
    struct pawl_list_options options = PAWL_LIST_OPTIONS_INIT;
    struct pawl_instance_page page;
    struct pawl_instance verdict;
    int complete = 0, bodies, starts;
    const char *id = pawl_scope_format(host->scope, "audit-%lld", demo->first);
    const char *params = pawl_scope_format(host->scope, "{\"first\": %lld}", demo->first);
    PAWL_TRY(host_create(host, "demo-audit", id, params));
    options.page_size = ORDERS;
    PAWL_TRY(pawl_list(host->engine, host->scope, "demo-order", &options, &page, &host->error));
    for (size_t i = 0; i < page.count; i++)
        complete += page.instances[i].status == PAWL_COMPLETE;
    count_notes(demo->first, &bodies, &starts);

    printf("\n%d of %d orders are complete, after %d start%s of this program.\n", complete, ORDERS, starts,
           starts == 1 ? "" : "s");
    printf("Bodies began %d times for %d steps: ", bodies, ORDERS * BODIES);
    if (bodies == ORDERS * BODIES)
        printf("none was cut off.\n");
    else
        printf("%d of them were cut off, and ran again.\n", bodies - ORDERS * BODIES);
    PAWL_TRY(host_wait(host, "demo-audit", id));
    PAWL_TRY(pawl_get(host->engine, host->scope, "demo-audit", id, &verdict, &host->error));
    if (verdict.status != PAWL_COMPLETE)
        return host_show(host, "demo-audit", id);
    printf("In the database every one of the %d completions is counted, and counted once.\n", ORDERS * BODIES);
    return PAWL_OK;
}

int main(int argc, char **argv)
{
    struct pawl_runner_options options = PAWL_RUNNER_OPTIONS_INIT;
    if (argc > 1) {
        bool is_asked = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
        fprintf(
            is_asked ? stdout : stderr,
            "usage: demo\nRuns twenty orders, about 15 seconds, in pawl-demo.db of the current directory.  Kill it in "
            "the middle\nwith kill -9, start it again, and it goes on.  It takes no arguments.\n");
        return is_asked ? 0 : 2;
    }
    struct demo demo = { .first = 0 };
    options.workers = WORKERS;

    pawl_status status = host_open(&demo.host, "sqlite:pawl-demo.db", &pawl_module, &options);
    if (status == PAWL_OK)
        status = begin(&demo);
    if (status == PAWL_OK) {
        note("start", demo.first);
        printf("To crash it, paste this into another terminal; to go on, start it again:\n    kill -9 %ld\n\n",
               (long)getpid());
        fflush(stdout);
        status = watch(&demo);
    }
    if (status == PAWL_OK)
        status = summarise(&demo);
    return host_close(&demo.host, status);
}
#endif
