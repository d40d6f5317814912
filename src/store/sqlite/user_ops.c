/* user_ops.c - runs the user's SQL and functions inside the transaction that records a step.
 *
 * An error in them concerns the step: the unit is refused and rolled back to its savepoint.  Only an error that
 * concerns the database as a whole, or that has ended the transaction, fails all units.  guard.h says what they may
 * not do. */
#include <jansson.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/sqlite/batch.h"
#include "common/json.h"
#include "store/sqlite/errors.h"

static pawl_status refuse_code(struct pw_batch *batch, int code)
{
    sqlite3 *db = batch->connection->db;
    enum pw_refusal refusal = PW_REFUSED_MUTATION_FAILED;
    if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID)
        refusal = PW_REFUSED_UNIQUE;
    if (pw_sqlite_is_trouble(code))
        return pw_sqlite_error(batch->connection, code, batch->core.error);
    if (sqlite3_get_autocommit(db))
        return pw_error(batch->core.error, pw_refusal_status(refusal), "%s, which ended the transaction",
                        sqlite3_errmsg(db));
    if ((code & 0xff) == SQLITE_AUTH)
        return pw_unit_refuse_saying(
            batch->core.unit, refusal,
            "%s: a mutation may not begin or end transactions, attach databases, use pragmas, or change "
            "Pawl's own tables",
            sqlite3_errmsg(db));
    return pw_unit_refuse_saying(batch->core.unit, refusal, "%s", sqlite3_errmsg(db));
}

/* ---- Parameters ---------------------------------------------------------------------------------------------- */

static int bind_text_of(sqlite3_stmt *statement, int index, const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    if (text == NULL)
        return SQLITE_NOMEM;
    int code = sqlite3_bind_text64(statement, index, text, strlen(text), SQLITE_TRANSIENT, SQLITE_UTF8);
    free(text);
    return code;
}

static int bind_value(sqlite3_stmt *statement, int index, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        return sqlite3_bind_text64(statement, index, json_string_value(value), json_string_length(value), SQLITE_STATIC,
                                   SQLITE_UTF8);
    case JSON_INTEGER:
        return sqlite3_bind_int64(statement, index, json_integer_value(value));
    case JSON_REAL:
        return sqlite3_bind_double(statement, index, json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return sqlite3_bind_int(statement, index, json_is_true(value));
    case JSON_NULL:
        return sqlite3_bind_null(statement, index);
    case JSON_OBJECT:
    case JSON_ARRAY:
        return bind_text_of(statement, index, value);
    }
    return SQLITE_MISUSE;
}

/* To SQLite "$3" is a name, "?3" a number, and a bare "?" the next number.  0: it is none of these. */
static size_t parameter_number(sqlite3_stmt *statement, int index)
{
    const char *name = sqlite3_bind_parameter_name(statement, index);
    if (name == NULL || name[0] == '?')
        return (size_t)index;
    char *end = NULL;
    unsigned long number = name[0] == '$' ? strtoul(name + 1, &end, 10) : 0;
    return end != NULL && *end == '\0' ? number : 0;
}

static pawl_status bind_parameters(struct pw_batch *batch, sqlite3_stmt *statement, const json_t *parameters)
{
    size_t given = json_array_size(parameters); /* 0 for NULL */
    int wanted = sqlite3_bind_parameter_count(statement);
    if (given != (size_t)wanted)
        return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_MUTATION_FAILED,
                                     "the SQL has %d parameters, %zu were given", wanted, given);

    for (int index = 1; index <= wanted; index++) {
        size_t number = parameter_number(statement, index);
        if (number == 0 || number > given)
            return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_MUTATION_FAILED,
                                         "the SQL's parameter %s is not one of $1 to $%zu",
                                         sqlite3_bind_parameter_name(statement, index), given);
        int code = bind_value(statement, index, json_array_get(parameters, number - 1));
        if (code != SQLITE_OK)
            return refuse_code(batch, code);
    }
    return PAWL_OK;
}

static pawl_status parse_parameters(struct pw_batch *batch, struct pw_text text, json_t **out_parameters)
{
    if (text.data == NULL)
        return PAWL_OK;

    *out_parameters = pw_json_parse(text);
    struct pw_json_flaw flaw;
    if (*out_parameters == NULL && pw_json_scan(text, &flaw))
        return pw_error_plain(batch->core.error, PAWL_NOMEM);
    if (!json_is_array(*out_parameters))
        return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_MUTATION_FAILED,
                                     "the parameters of SQL must be a JSON array");
    return PAWL_OK;
}

/* ---- SQL ----------------------------------------------------------------------------------------------------- */

static pawl_status prepare_one(struct pw_batch *batch, struct pw_text sql, sqlite3_stmt **out_statement)
{
    if (sql.size > INT32_MAX)
        return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_MUTATION_FAILED, "the SQL is too long");

    sqlite3 *db = batch->connection->db;
    const char *end = sql.data + sql.size, *tail = end;
    int code = sqlite3_prepare_v2(db, sql.data, (int)sql.size, out_statement, &tail);
    if (code != SQLITE_OK)
        return refuse_code(batch, code);
    if (*out_statement == NULL)
        return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_MUTATION_FAILED, "the SQL holds no statement");

    /* The rest may be blanks and comments, which prepare to nothing. */
    sqlite3_stmt *second = NULL;
    code = tail < end ? sqlite3_prepare_v2(db, tail, (int)(end - tail), &second, NULL) : SQLITE_OK;
    (void)sqlite3_finalize(second);
    if (code != SQLITE_OK || second != NULL)
        return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_MUTATION_FAILED,
                                     "the SQL holds more than one statement; register each apart");
    return PAWL_OK;
}

static pawl_status run_to_end(struct pw_batch *batch, sqlite3_stmt *statement)
{
    int code = SQLITE_ROW;
    while (code == SQLITE_ROW)
        code = sqlite3_step(statement);
    return code == SQLITE_DONE ? PAWL_OK : refuse_code(batch, code);
}

pawl_status pw_sqlite_run_sql(struct pw_core *core, struct pw_op_sql *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    sqlite3_stmt *statement = NULL;
    json_t *parameters = NULL;
    batch->connection->user_is_running = true;
    pawl_status status = prepare_one(batch, op->sql, &statement);
    if (status == PAWL_OK)
        status = parse_parameters(batch, op->parameters, &parameters);
    if (status == PAWL_OK)
        status = bind_parameters(batch, statement, parameters);
    if (status == PAWL_OK)
        status = run_to_end(batch, statement);
    (void)sqlite3_finalize(statement);
    json_decref(parameters);
    batch->connection->user_is_running = false;
    return status;
}

/* ---- Functions ----------------------------------------------------------------------------------------------- */

pawl_status pw_sqlite_run_mutation(struct pw_core *core, struct pw_op_mutate *op)
{
    struct pw_batch *batch = pw_batch_of(core);
    sqlite3 *db = batch->connection->db;
    batch->connection->user_is_running = true;
    pawl_status answer = op->mutate(db, op->data, op->size);
    batch->connection->user_is_running = false;

    if (sqlite3_get_autocommit(db))
        return pw_error(batch->core.error, PAWL_STEP_MUTATION_FAILED, "the mutation ended the transaction (%s)",
                        sqlite3_errmsg(db));
    if (answer == PAWL_OK)
        return PAWL_OK;
    if (pw_sqlite_is_trouble(sqlite3_extended_errcode(db)))
        return pw_sqlite_error(batch->connection, sqlite3_extended_errcode(db), batch->core.error);
    if (answer == PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION)
        return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_UNIQUE, "%s", sqlite3_errmsg(db));
    return pw_unit_refuse_saying(batch->core.unit, PW_REFUSED_MUTATION_FAILED, "the mutation answered %s (%s)",
                                 pawl_status_name(answer), sqlite3_errmsg(db));
}
