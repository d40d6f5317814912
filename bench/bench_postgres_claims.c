/* bench_postgres_claims.c - does a claim take longer if many runs are parked?  Claims one run at a time, alternately
 * in a store with 1,000 sleeping runs and in one with 1,000,000.  The limit is the time among the 1,000. */
#include <stdio.h>

#include "postgres.h"

enum { CLAIMS = 400, WARM_UP_CLAIMS = 20, FEW = 1000, MANY = 1000000 };

#define WORKFLOW "claims"

struct store {
    const char *schema;
    struct bench_place place;
    struct bench_host host;
};

static const struct pawl_definition by_hand = { .struct_size = sizeof by_hand, .name = WORKFLOW };

static void open_store(struct store *store)
{
    struct pawl_options options = PAWL_OPTIONS_INIT;
    struct pawl_error error;
    store->host = (struct bench_host){ .workflow = by_hand.name };
    options.store_url = store->place.store_url;
    bench_check(pawl_open(&options, &store->host.engine, &error), &error);
    bench_check(pawl_define(store->host.engine, &by_hand, &error), &error);
    bench_check(pawl_runner_open(store->host.engine, NULL, &store->host.runner, &error), &error);
}

/* Claims one run and lets it sleep for a month.  Returns how long the claim took. */
static double claim_us(const struct store *store)
{
    pawl_turn *turn = NULL;
    struct pawl_answer answer;
    struct pawl_error error;
    bool again = true;
    double begun_us = bench_now_us();
    bench_check(pawl_turn_poll(store->host.runner, &turn, &error), &error);
    double us = bench_now_us() - begun_us;
    bench_require(turn != NULL, "nothing was due");
    while (again) {
        pawl_status status =
            pawl_recall_sleep(pawl_turn_lane(turn), "sleep", 5, INT64_C(30) * 24 * 3600 * 1000, &answer);
        bench_require(status == PAWL_SUSPENDED, "a run did not sleep");
        pawl_turn_suspend(turn);
        bench_check(pawl_turn_done(store->host.runner, turn, &again, &error), &error);
    }
    return us;
}

/* The engine parks one run.  The others are copies of its rows, made in the database. */
static void park(struct store *store, const char *schema, int count)
{
    char sql[1600];
    store->schema = schema;
    bench_postgres_place_make(&store->place, schema);
    open_store(store);
    bench_create(&store->host, "parked");
    (void)claim_us(store);
    snprintf(sql, sizeof sql,
             "CREATE TEMP TABLE number AS SELECT n, nextval('workflow_instance_key_seq') AS key"
             " FROM generate_series(2, %d) AS n;"
             "CREATE TEMP TABLE instance AS SELECT i.*, number.n AS made_n, number.key AS made_key"
             " FROM workflow_instance i, number;"
             "UPDATE instance SET key = made_key, id = id || '-' || made_n;"
             "ALTER TABLE instance DROP made_n, DROP made_key;"
             "INSERT INTO workflow_instance SELECT * FROM instance;"
             "CREATE TEMP TABLE task AS SELECT t.*, number.key AS made_key, number.n AS made_n"
             " FROM workflow_task t, number;"
             "UPDATE task SET instance = made_key, due_at = due_at + made_n;"
             "ALTER TABLE task DROP made_n, DROP made_key;"
             "INSERT INTO workflow_task SELECT * FROM task;"
             "CREATE TEMP TABLE step AS SELECT s.*, number.key AS made_key FROM workflow_step s, number;"
             "UPDATE step SET instance = made_key;"
             "ALTER TABLE step DROP made_key;"
             "INSERT INTO workflow_step SELECT * FROM step;",
             count);
    bench_postgres_execute(schema, sql);
    bench_postgres_execute(schema, "VACUUM ANALYZE");
    bench_postgres_execute(schema, "CHECKPOINT");
    for (int i = 0; i < CLAIMS + WARM_UP_CLAIMS; i += BENCH_BATCH_MAX)
        bench_create_batch(&store->host, i, BENCH_BATCH_MAX);
}

static void close_store(struct store *store)
{
    bench_host_close(&store->host);
    bench_postgres_place_remove(&store->place, store->schema);
}

int main(void)
{
    double few_us[CLAIMS], many_us[CLAIMS];
    struct store few, many;
    park(&few, "bench_claims_few", FEW);
    park(&many, "bench_claims_many", MANY);
    for (int i = -WARM_UP_CLAIMS; i < CLAIMS; i++) {
        double among_few_us = claim_us(&few), among_many_us = claim_us(&many);
        if (i < 0)
            continue;
        few_us[i] = among_few_us;
        many_us[i] = among_many_us;
    }
    close_store(&few);
    close_store(&many);
    struct bench_result result = { .name = "postgres_claims", .store = "postgres", .kind = BENCH_TIME, .unit = "us" };
    result.value = bench_percentile(many_us, CLAIMS, 0.5);
    result.limit = bench_percentile(few_us, CLAIMS, 0.5);
    bench_print(&result, "\"p99\": %.1f, \"limit_p99\": %.1f", bench_percentile(many_us, CLAIMS, 0.99),
                bench_percentile(few_us, CLAIMS, 0.99));
    return 0;
}
