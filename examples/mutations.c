/* mutations.c - changes the application's own tables exactly once.
 *
 *     ./mutations transfer-1     moves 10 from ada to bob, in mutations.db
 *     ./mutations transfer-2     moves 10 more, and so on; ada has 25 to begin with, so the third is refused
 *     sqlite3 mutations.db 'SELECT * FROM account; SELECT * FROM transfer'
 *
 * A body may run more than once: after a crash, a failure or a timeout.  SQL that is registered with pawl_step_sql()
 * does not run in the body.  It runs in the transaction that records the step as completed, so both happen or
 * neither does.  The tables are in the same file as Pawl's. */
#include <pawl/pawl.h>
#include <string.h>

static pawl_status make_tables(pawl_step *step, const pawl_value *input, pawl_value **out_result)
{
    (void)input;
    (void)out_result;
    PAWL_TRY(pawl_step_sql(step,
                           "CREATE TABLE IF NOT EXISTS account"
                           " (name TEXT PRIMARY KEY, balance INTEGER NOT NULL CHECK (balance >= 0))",
                           NULL));
    PAWL_TRY(pawl_step_sql(step, "CREATE TABLE IF NOT EXISTS transfer (id TEXT PRIMARY KEY, state TEXT)", NULL));
    return pawl_step_sql(step, "INSERT OR IGNORE INTO account VALUES ($1, $2), ($3, $4)", "[s, i, s, i]", "ada", 25,
                         "bob", 0);
}

static pawl_status move_money(pawl_step *step, const pawl_value *params, pawl_value **out_result)
{
    const char *id = pawl_value_string(params, "id", "");
    long long amount = pawl_value_int(params, "amount", 0);

    PAWL_TRY(pawl_step_sql(step, "INSERT INTO transfer VALUES ($1, 'done')", "[s]", id));
    PAWL_TRY(pawl_step_sql(step, "UPDATE account SET balance = balance - $1 WHERE name = $2", "[I, s]", amount,
                           pawl_value_string(params, "from", "")));
    PAWL_TRY(pawl_step_sql(step, "UPDATE account SET balance = balance + $1 WHERE name = $2", "[I, s]", amount,
                           pawl_value_string(params, "to", "")));
    /* This runs instead if the step fails for good. */
    PAWL_TRY(pawl_step_sql_on_failure(step, "INSERT OR IGNORE INTO transfer VALUES ($1, 'refused')", "[s]", id));

    /* A failed attempt drops what it has registered, so only the second attempt moves the money. */
    if (pawl_step_attempt(step) == 1)
        return pawl_fail(step, "Unlucky", "the body failed after it had registered everything");
    return pawl_result(step, out_result, "{s:I}", "moved", amount);
}

/* SQL that the database refuses fails the attempt.  One retry is enough here. */
static const struct pawl_step_options one_retry = { .retries = 1, .delay = "100 ms" };

static pawl_status transfer(pawl_run *run, const pawl_value *params, pawl_value **out_result)
{
    pawl_value *input;

    PAWL_TRY(pawl_do(run, "make tables", NULL, make_tables, NULL, NULL));
    PAWL_TRY(pawl_value_pack(pawl_run_scope(run), &input, "{s:s, s:I, s:V, s:V}", "id", pawl_run_id(run), "amount",
                             (long long)pawl_value_int(params, "amount", 0), "from", pawl_value_at(params, "from"),
                             "to", pawl_value_at(params, "to")));

    pawl_status status = pawl_do(run, "move money", &one_retry, move_money, input, out_result);
    if (status == PAWL_FAILED && strcmp(pawl_run_failure(run).name, "STEP_MUTATION_FAILED") == 0)
        return pawl_return(run, out_result, "{s:s}", "refused", pawl_run_failure(run).message);
    return status;
}

PAWL_MODULE({ .name = "transfer", .run = transfer });

#ifndef PAWL_NO_MAIN
#include "host.h"

int main(int argc, char **argv)
{
    return host_run("sqlite:mutations.db", &pawl_module, "transfer", argc > 1 ? argv[1] : "transfer-1",
                    "{\"from\": \"ada\", \"to\": \"bob\", \"amount\": 10}");
}
#endif
