/* schema.c - see schema.h.  The version is first read without a lock, because nearly always there is nothing to do.
 * It is read again under an advisory lock before anything is changed. */
#include "store/postgres/schema.h"

#include "base/error.h"
#include "store/postgres/errors.h"
#include "store/postgres/fields.h"
#include "store/postgres/migrations.h"
#include "store/postgres/read.h"

static const char make_schema[] =
    "DO $$ BEGIN"
    "  IF current_setting('pawl.schema') <> ''"
    "    AND to_regnamespace(quote_ident(current_setting('pawl.schema'))) IS NULL THEN" /* who may not make one needs not */
    "    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', current_setting('pawl.schema'));"
    "  END IF;"
    " END $$";

/* While a migration waits for the lock of a table, everybody else who needs the table queues behind it.  So it waits
 * only briefly.  Then it is undone and repeated (prepare_database()), and others go on in between.  No statement has
 * a timeout, because changing many old rows may take long. */
static const char lock_briefly[] = "SET LOCAL lock_timeout = '300ms'; SET LOCAL statement_timeout = 0";

static pawl_status refuse_foreign(const struct pw_pg_connection *connection, struct pawl_error *error)
{
    return pw_error(error, PAWL_STORE_CORRUPT,
                    "%s: has a table or view with one of Pawl's names (workflow_instance, ...) that Pawl did not make; "
                    "use another database, or a schema of its own with pawl_schema=<name>",
                    connection->url->label);
}

static pawl_status ask(struct pw_pg_connection *connection, unsigned name, pw_pg_take_fn *take, void *user,
                       struct pawl_error *error)
{
    struct pw_call call;
    pw_call_init(&call, name, PW_NO_VALUES);
    pw_pg_send(connection, &call, take, user);
    return pw_pg_settle(connection, error);
}

int64_t pw_postgres_newest_version(void)
{
    return pw_postgres_migrations[pw_postgres_migration_count - 1].to;
}

/* ---- The version --------------------------------------------------------------------------------------------- */

/* 0: there is no schema of ours. */
static pawl_status read_version(struct pw_pg_connection *connection, int64_t *out_version, struct pawl_error *error)
{
    struct pw_numbers tables, version = { .is_found = false };
    pawl_status status = ask(connection, PW_PG_SCHEMA_TABLES, pw_numbers_take, &tables, error);
    if (status != PAWL_OK)
        return status;
    bool has_table = tables.of[0] > 0, has_version = tables.of[1] > 0;
    if (has_version)
        status = ask(connection, PW_PG_SCHEMA_VERSION, pw_numbers_take, &version, error);
    if (status != PAWL_OK && !pw_pg_failed_with(&connection->failure, "42703"))
        return status;
    if (status != PAWL_OK || (has_table && !version.is_found))
        return refuse_foreign(connection, error);
    *out_version = version.of[0];
    return PAWL_OK;
}

/* ---- Migrating ----------------------------------------------------------------------------------------------- */

/* Pieces hold several statements each, which a pipeline does not allow. */
static pawl_status run_piece(struct pw_pg_connection *connection, const char *sql, struct pawl_error *error)
{
    PGresult *result = PQexec(connection->db, sql);
    pawl_status status = PAWL_OK;
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        pw_pg_note_result(&connection->failure, result);
        bool taken = pw_pg_failed_with(&connection->failure, "42P07") || /* a table, index or view of that name */
                     pw_pg_failed_with(&connection->failure, "42723");   /* a function */
        status = taken ? refuse_foreign(connection, error) : pw_pg_error(connection, error);
    }
    PQclear(result);
    return status;
}

static pawl_status run_pieces(struct pw_pg_connection *connection, int64_t version, struct pawl_error *error)
{
    if (!pw_pg_leave_pipeline(connection))
        return pw_pg_error(connection, error);
    pawl_status status = run_piece(connection, make_schema, error);
    if (status == PAWL_OK)
        status = run_piece(connection, lock_briefly, error);
    for (size_t i = 0; i < pw_postgres_migration_count && status == PAWL_OK; i++)
        if (pw_migration_concerns(&pw_postgres_migrations[i], version))
            status = run_piece(connection, pw_postgres_migrations[i].sql, error);
    if (!pw_pg_enter_pipeline(connection) && status == PAWL_OK)
        status = pw_pg_error(connection, error);
    return status;
}

static pawl_status migrate_from(struct pw_pg_connection *connection, const struct pw_progress *progress,
                                int64_t version, int64_t newest, struct pawl_error *error)
{
    if (version > 0)
        pw_progress_tell(progress, "%s: migrating the schema from version %lld to %lld", connection->url->label,
                         (long long)version, (long long)newest);
    pawl_status status = run_pieces(connection, version, error);
    if (status != PAWL_OK && pw_pg_cure_of(connection) == PW_PG_CURE_REPEAT)
        pw_progress_tell(progress,
                         "%s: others have a table locked that the migration needs; it was undone, and is tried again",
                         connection->url->label);
    if (status != PAWL_OK)
        return status;
    pw_pg_send_values(connection, PW_PG_SCHEMA_SET_VERSION, PW_VALUES(pw_int(newest)));
    return pw_pg_settle(connection, error);
}

static pawl_status migrate_under_lock(struct pw_pg_connection *connection, const struct pw_progress *progress,
                                      int64_t newest, int64_t *out_version, struct pawl_error *error)
{
    pw_pg_send_simple(connection, PW_PG_BEGIN);
    pw_pg_send_simple(connection, PW_PG_SCHEMA_LOCK);
    pawl_status status = pw_pg_settle(connection, error);
    if (status == PAWL_OK)
        status = read_version(connection, out_version, error);
    if (status == PAWL_OK && *out_version < newest) {
        status = migrate_from(connection, progress, *out_version, newest, error);
        *out_version = newest;
    }
    if (status == PAWL_OK) {
        pw_pg_send_simple(connection, PW_PG_COMMIT);
        status = pw_pg_settle(connection, error);
    }
    if (status != PAWL_OK)
        connection->failure.failed = true; /* makes pw_pg_give() roll back, whatever failed */
    return status;
}

pawl_status pw_postgres_migrate(struct pw_pg_connection *connection, const struct pw_progress *progress,
                                struct pawl_error *error)
{
    int64_t newest = pw_postgres_newest_version();
    int64_t version = 0;
    pawl_status status = read_version(connection, &version, error);
    if (status == PAWL_OK && version < newest)
        status = migrate_under_lock(connection, progress, newest, &version, error);
    if (status == PAWL_OK && version > newest)
        return pw_error(error, PAWL_STORE_TOO_NEW,
                        "%s: has schema version %lld, this Pawl knows versions up to %lld; use a newer Pawl",
                        connection->url->label, (long long)version, (long long)newest);
    return status;
}

/* ---- What is ours -------------------------------------------------------------------------------------------- */

static void read_relation(struct pw_fields *fields, void *row)
{
    *(int64_t *)row = pw_field_integer(fields);
}

static pawl_status take_relations(void *user, const PGresult *result)
{
    return pw_pg_read_rows(result, user, NULL, read_relation);
}

pawl_status pw_postgres_read_relations(struct pw_pg_connection *connection, struct pw_rows *relations,
                                       struct pawl_error *error)
{
    return ask(connection, PW_PG_SCHEMA_RELATIONS, take_relations, relations, error);
}

static_assert((int)PW_PG_ROW_TYPE_COUNT <= PW_NUMBERS_MAX, "the types are the numbers of one row");

pawl_status pw_postgres_read_row_types(struct pw_pg_connection *connection, int64_t row_types[PW_PG_ROW_TYPE_COUNT],
                                       struct pawl_error *error)
{
    struct pw_numbers types = { .is_found = false };
    pawl_status status = ask(connection, PW_PG_SCHEMA_ROW_TYPES, pw_numbers_take, &types, error);
    for (int type = 0; type < PW_PG_ROW_TYPE_COUNT; type++)
        row_types[type] = types.of[type];
    return status;
}
