/* user_ops.c - runs the user's SQL and functions inside the transaction that records a step.
 *
 * An error in them concerns the step: the unit is refused and rolled back to its savepoint.  Only an error that
 * concerns the database as a whole, or that has ended the transaction, fails all units.
 *
 * They may read everything and write everything but our own tables.  Four things stop the rest.  SQL that would end
 * the transaction or change the session is recognised by its first word.  Triggers stop statements that write our
 * tables (migrations.c).  Statements that change the structure of our tables are recognised afterwards by the locks
 * they took.  A trigger stops a function's COMMIT. */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <strings.h>

#include "base/error.h"
#include "store/postgres/errors.h"
#include "store/postgres/fields.h"
#include "store/postgres/transaction.h"
#include "common/json.h"

enum { LEFT_RESULTS_MAX = 1000 };

static pawl_status refuse_with(struct pw_transaction *transaction, const char *why)
{
    return pw_unit_refuse_saying(transaction->core.unit, PW_REFUSED_MUTATION_FAILED, "%s", why);
}

/* Refuses the unit with what the server said about the user's statement. */
static pawl_status refuse_failure(struct pw_transaction *transaction)
{
    struct pw_pg_failure *failure = &transaction->connection->failure;
    if (pw_pg_is_trouble(failure))
        return pw_pg_error(transaction->connection, transaction->core.error);
    enum pw_refusal refusal = pw_pg_failed_with(failure, "23505") ? PW_REFUSED_UNIQUE : PW_REFUSED_MUTATION_FAILED;
    pawl_status status =
        pw_unit_refuse_saying(transaction->core.unit, refusal, "%s (SQLSTATE %s)", failure->text, failure->state);
    *failure = (struct pw_pg_failure){ .failed = false }; /* rolling back to the savepoint does the rest */
    return status;
}

static bool finish(struct pw_transaction *transaction)
{
    return pw_pg_settle(transaction->connection, NULL) == PAWL_OK;
}

/* ---- The guard ------------------------------------------------------------------------------------------------- */

static bool take_search_path(void *user, void *of, struct pw_fields *fields)
{
    (void)user;
    *(struct pw_text *)of = pw_field_text(fields);
    return true;
}

/* Gets the session's search path, as it is before the user's code runs. */
static void send_begin(struct pw_transaction *transaction, struct pw_text *search_path)
{
    struct pw_call call;
    pw_call_init(&call, PW_PG_USER_BEGIN, PW_NO_VALUES);
    pw_ask(transaction, &call, take_search_path, search_path);
}

static void send_end(struct pw_transaction *transaction, struct pw_text search_path, struct pw_numbers *findings)
{
    const struct pw_rows *relations = &transaction->postgres->relations;
    struct pw_columns columns = { .arena = &transaction->core.arena };
    struct pw_call call;
    pw_pg_send_simple(transaction->connection, PW_PG_USER_END);
    for (size_t i = 0; i < relations->count; i++)
        pw_columns_row(&columns, PW_VALUES(pw_int(((const int64_t *)relations->rows)[i])));
    pw_call_init(&call, PW_PG_USER_CHECK, PW_NO_VALUES);
    pw_call_columns(&call, &columns);
    pw_call_add(&call, PW_VALUES(pw_str(search_path)));
    pw_pg_send(transaction->connection, &call, pw_numbers_take, findings);
}

/* The findings are the columns of PW_PG_USER_CHECK. */
static pawl_status judge(struct pw_transaction *transaction, const struct pw_numbers *findings)
{
    static const char *const faults[] = { "a mutation may not lock or change the structure of Pawl's own tables",
                                          "a mutation may not make temporary tables with Pawl's names",
                                          "a mutation may not change the search path" };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (findings->of[i] != 0)
            return refuse_with(transaction, faults[i]);
    return PAWL_OK;
}

/* ---- SQL: the first word ---------------------------------------------------------------------------------------- */

/* Skips blanks and comments, which nest. */
static struct pw_text skip_blanks(struct pw_text sql)
{
    const char *at = sql.data, *end = sql.data + sql.size;
    for (;;) {
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (end - at >= 2 && at[0] == '-' && at[1] == '-') {
            while (at < end && *at != '\n')
                at++;
        } else if (end - at >= 2 && at[0] == '/' && at[1] == '*') {
            int depth = 0;
            do {
                bool opens = end - at >= 2 && at[0] == '/' && at[1] == '*';
                bool closes = end - at >= 2 && at[0] == '*' && at[1] == '/';
                depth += opens - closes;
                at += opens || closes ? 2 : 1;
            } while (depth > 0 && at < end);
        } else {
            return (struct pw_text){ at, (size_t)(end - at) };
        }
    }
}

static bool may_not_begin_with(struct pw_text sql)
{
    static const char *const words[] = { "abort",   "begin",    "close",     "commit",  "copy",    "deallocate",
                                         "declare", "discard",  "end",       "execute", "fetch",   "listen",
                                         "load",    "lock",     "move",      "notify",  "prepare", "release",
                                         "reset",   "rollback", "savepoint", "set",     "start",   "unlisten" };
    size_t size = 0;
    while (size < sql.size && isalpha((unsigned char)sql.data[size]))
        size++;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == size && strncasecmp(words[i], sql.data, size) == 0)
            return true;
    return false;
}

/* ---- SQL: parameters -------------------------------------------------------------------------------------------- */

/* Parameters are sent as texts; the statement determines their types. */
struct parameters {
    size_t count;
    const char **values;
};

static pawl_status copy_value(struct pw_transaction *transaction, const json_t *value, const char **out_text)
{
    *out_text = NULL;
    if (json_is_null(value))
        return PAWL_OK;
    if (json_is_string(value)) {
        if (strlen(json_string_value(value)) != json_string_length(value))
            return refuse_with(transaction,
                               "a text with \\u0000 in it cannot be a parameter: PostgreSQL has none such");
        *out_text = pw_arena_string(&transaction->core.arena, json_string_value(value));
    } else {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        *out_text = pw_arena_string(&transaction->core.arena, text);
        free(text);
    }
    return *out_text != NULL ? PAWL_OK : pw_no_memory(transaction);
}

static pawl_status copy_values(struct pw_transaction *transaction, const json_t *array, struct parameters *parameters)
{
    pawl_status status = PAWL_OK;
    parameters->count = json_array_size(array);
    parameters->values = pw_arena_zero(&transaction->core.arena, (parameters->count + 1) * sizeof *parameters->values);
    if (parameters->values == NULL)
        return pw_no_memory(transaction);
    for (size_t i = 0; i < parameters->count && status == PAWL_OK; i++)
        status = copy_value(transaction, json_array_get(array, i), &parameters->values[i]);
    return status;
}

static pawl_status parse_parameters(struct pw_transaction *transaction, struct pw_text text,
                                    struct parameters *parameters)
{
    *parameters = (struct parameters){ 0, NULL };
    if (text.data == NULL)
        return PAWL_OK;
    json_t *array = pw_json_parse(text);
    struct pw_json_flaw flaw;
    pawl_status status;
    if (array == NULL && pw_json_scan(text, &flaw))
        status = pw_no_memory(transaction);
    else if (!json_is_array(array))
        status = refuse_with(transaction, "the parameters of SQL must be a JSON array");
    else
        status = copy_values(transaction, array, parameters);
    json_decref(array);
    return status;
}

/* ---- SQL --------------------------------------------------------------------------------------------------------- */

static pawl_status take_description(void *user, const PGresult *result)
{
    int *wanted = user;
    *wanted = PQnparams(result);
    return PAWL_OK;
}

static pawl_status take_execution(void *user, const PGresult *result)
{
    bool *is_empty = user;
    *is_empty = PQresultStatus(result) == PGRES_EMPTY_QUERY;
    return PAWL_OK;
}

/* False: it could not be sent. */
static bool sent(struct pw_transaction *transaction, int result)
{
    if (result != 1)
        pw_pg_note_lost(transaction->connection, NULL);
    return result == 1;
}

static pawl_status prepare(struct pw_transaction *transaction, const char *sql, const struct parameters *parameters,
                           struct pw_text *search_path)
{
    struct pw_pg_connection *connection = transaction->connection;
    int wanted = 0;
    send_begin(transaction, search_path);
    if (sent(transaction, PQsendPrepare(connection->db, "", sql, 0, NULL)))
        pw_pg_expect(connection, NULL, NULL);
    if (sent(transaction, PQsendDescribePrepared(connection->db, "")))
        pw_pg_expect(connection, take_description, &wanted);
    if (!finish(transaction))
        return refuse_failure(transaction);
    if ((size_t)wanted != parameters->count)
        return pw_unit_refuse_saying(transaction->core.unit, PW_REFUSED_MUTATION_FAILED,
                                     "the SQL has %d parameters, %zu were given", wanted, parameters->count);
    return PAWL_OK;
}

static pawl_status execute(struct pw_transaction *transaction, const struct parameters *parameters,
                           struct pw_text search_path)
{
    struct pw_pg_connection *connection = transaction->connection;
    struct pw_numbers findings = { .is_found = false };
    bool is_empty = false;
    if (sent(transaction,
             PQsendQueryPrepared(connection->db, "", (int)parameters->count, parameters->values, NULL, NULL, 0)))
        pw_pg_expect(connection, take_execution, &is_empty);
    send_end(transaction, search_path, &findings);
    if (!finish(transaction))
        return refuse_failure(transaction);
    if (is_empty)
        return refuse_with(transaction, "the SQL holds no statement");
    return judge(transaction, &findings);
}

pawl_status pw_run_sql(struct pw_transaction *transaction, const struct pw_op_sql *op)
{
    struct parameters parameters;
    struct pw_text sql = { NULL, 0 }, search_path = { NULL, 0 };
    if (memchr(op->sql.data, '\0', op->sql.size) != NULL)
        return refuse_with(transaction, "the SQL has a NUL character in it");
    if (may_not_begin_with(skip_blanks(op->sql)))
        return refuse_with(transaction, "a mutation may not begin or end transactions, or change the session");
    if (!pw_arena_text(&transaction->core.arena, op->sql, &sql))
        return pw_no_memory(transaction);
    pawl_status status = parse_parameters(transaction, op->parameters, &parameters);
    if (status == PAWL_OK)
        status = prepare(transaction, sql.data, &parameters, &search_path);
    if (status == PAWL_OK)
        status = execute(transaction, &parameters, search_path);
    return status;
}

/* ---- Functions ----------------------------------------------------------------------------------------------- */

/* Discards results that the function did not fetch. */
static void drain(PGconn *db)
{
    PGresult *result = NULL;
    for (int i = 0; i < LEFT_RESULTS_MAX && (result = PQgetResult(db)) != NULL; i++)
        PQclear(result);
}

/* Leaves pipeline mode, calls the function with the connection, and enters pipeline mode again. */
static pawl_status call(struct pw_transaction *transaction, const struct pw_op_mutate *op, pawl_status *out_answer,
                        struct pawl_error *why)
{
    struct pw_pg_connection *connection = transaction->connection;
    if (!pw_pg_leave_pipeline(connection))
        return pw_pg_error(connection, transaction->core.error);
    *out_answer = op->mutate(connection->db, op->data, op->size);
    const char *message = PQerrorMessage(connection->db);
    pw_error(why, PAWL_STEP_MUTATION_FAILED, "%.*s", (int)strcspn(message, "\n"), message);
    drain(connection->db);
    PGTransactionStatusType state = PQtransactionStatus(connection->db);
    if (PQstatus(connection->db) != CONNECTION_OK || state == PQTRANS_ACTIVE || state == PQTRANS_UNKNOWN) {
        pw_pg_note_lost(connection, "the connection was lost, or left busy, in a mutation");
        return pw_pg_error(connection, transaction->core.error);
    }
    if (!pw_pg_enter_pipeline(connection))
        return pw_pg_error(connection, transaction->core.error);
    if (state == PQTRANS_IDLE)
        return pw_error(transaction->core.error, PAWL_STEP_MUTATION_FAILED,
                        "a mutation may not end the transaction, and this one did (%s)", why->text);
    if (state == PQTRANS_INERROR && *out_answer == PAWL_OK)
        *out_answer = PAWL_FAILED;
    return PAWL_OK;
}

pawl_status pw_run_mutation(struct pw_transaction *transaction, const struct pw_op_mutate *op)
{
    struct pw_pg_connection *connection = transaction->connection;
    struct pw_numbers findings = { .is_found = false };
    pawl_status answer = PAWL_OK;
    struct pawl_error why = { PAWL_OK, "" };
    struct pw_text search_path = { NULL, 0 };
    pw_pg_send_simple(connection, PW_PG_USER_GUARD);
    send_begin(transaction, &search_path);
    if (!finish(transaction))
        return pw_pg_error(connection, transaction->core.error);
    pawl_status status = call(transaction, op, &answer, &why);
    if (status != PAWL_OK)
        return status;
    if (answer == PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION)
        return pw_unit_refuse_saying(transaction->core.unit, PW_REFUSED_UNIQUE, "%s", why.text);
    if (answer != PAWL_OK)
        return pw_unit_refuse_saying(transaction->core.unit, PW_REFUSED_MUTATION_FAILED,
                                     "the mutation answered %s (%s)", pawl_status_name(answer), why.text);
    send_end(transaction, search_path, &findings);
    if (!finish(transaction))
        return refuse_failure(transaction);
    status = judge(transaction, &findings);
    if (status == PAWL_OK)
        pw_pg_send_simple(connection, PW_PG_USER_UNGUARD);
    return status;
}
