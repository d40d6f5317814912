/* schema.c - see schema.h.  The version is first read without a lock, because nearly always there is nothing to do.
 * It is read again under the write lock before anything is changed. */
#include "store/sqlite/schema.h"

#include "base/error.h"
#include "store/sqlite/errors.h"
#include "store/sqlite/migrations.h"
#include "store/sqlite/query.h"

static pawl_status refuse_foreign(const struct pw_sqlite_connection *connection, struct pawl_error *error)
{
    return pw_error(error, PAWL_STORE_CORRUPT,
                    "%s: has a table or view with one of Pawl's names (workflow_instance, ...) that Pawl did not make; "
                    "use another file",
                    connection->url->path);
}

int64_t pw_sqlite_newest_version(void)
{
    return pw_sqlite_migrations[pw_sqlite_migration_count - 1].to;
}

pawl_status pw_sqlite_read_version(struct pw_sqlite_connection *connection, int64_t *out_version,
                                   struct pawl_error *error)
{
    struct pw_query query;
    pw_query_start(&query, connection, PW_QUERY_SCHEMA_VERSION, PW_NO_VALUES);
    bool found = pw_query_step(&query);
    int64_t version = found ? pw_column_integer(&query) : 0;
    bool foreign = (!found && query.code == SQLITE_OK) || (query.code & 0xff) == SQLITE_ERROR;
    pawl_status status = pw_query_end(&query, error);
    if (foreign)
        return refuse_foreign(connection, error);
    if (status == PAWL_OK)
        *out_version = version;
    return status;
}

/* 0: there is no schema of ours. */
static pawl_status read_version(struct pw_sqlite_connection *connection, int64_t *out_version, struct pawl_error *error)
{
    struct pw_query query;
    int64_t tables = 0;
    bool has_version = false;
    pw_query_start(&query, connection, PW_QUERY_SCHEMA_TABLES, PW_NO_VALUES);
    if (pw_query_step(&query)) {
        tables = pw_column_integer(&query);
        has_version = pw_column_integer(&query) != 0;
    }
    pawl_status status = pw_query_end(&query, error);
    if (status != PAWL_OK)
        return status;
    if (has_version)
        return pw_sqlite_read_version(connection, out_version, error);
    if (tables > 0)
        return refuse_foreign(connection, error);
    *out_version = 0;
    return PAWL_OK;
}

static pawl_status execute(struct pw_sqlite_connection *connection, const char *sql, struct pawl_error *error)
{
    int code = sqlite3_exec(connection->db, sql, NULL, NULL, NULL);
    if ((code & 0xff) == SQLITE_ERROR) /* the SQL is right, so a name in it must be taken */
        return refuse_foreign(connection, error);
    return code == SQLITE_OK ? PAWL_OK : pw_sqlite_error(connection, code, error);
}

static pawl_status migrate_from(struct pw_sqlite_connection *connection, int64_t version, int64_t newest,
                                struct pawl_error *error)
{
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < pw_sqlite_migration_count && status == PAWL_OK; i++)
        if (pw_migration_concerns(&pw_sqlite_migrations[i], version))
            status = execute(connection, pw_sqlite_migrations[i].sql, error);
    if (status != PAWL_OK)
        return status;
    return pw_query_run(connection, PW_QUERY_SCHEMA_SET_VERSION, PW_VALUES(pw_int(newest)), error);
}

static pawl_status migrate_under_lock(struct pw_sqlite_connection *connection, const struct pw_progress *progress,
                                      int64_t newest, int64_t *out_version, struct pawl_error *error)
{
    pawl_status status = pw_query_simple(connection, PW_QUERY_BEGIN, error);
    if (status == PAWL_OK)
        status = read_version(connection, out_version, error);
    if (status == PAWL_OK && *out_version < newest) {
        if (*out_version > 0)
            pw_progress_tell(progress, "%s: migrating the schema from version %lld to %lld", connection->url->path,
                             (long long)*out_version, (long long)newest);
        status = migrate_from(connection, *out_version, newest, error);
        *out_version = newest;
    }
    if (status == PAWL_OK)
        status = pw_query_simple(connection, PW_QUERY_COMMIT, error);
    pw_sqlite_rollback(connection);
    return status;
}

pawl_status pw_sqlite_migrate(struct pw_sqlite_connection *connection, const struct pw_progress *progress,
                              struct pawl_error *error)
{
    int64_t newest = pw_sqlite_newest_version();
    int64_t version = 0;
    pawl_status status = read_version(connection, &version, error);
    if (status == PAWL_OK && version < newest)
        status = migrate_under_lock(connection, progress, newest, &version, error);
    if (status == PAWL_OK && version > newest)
        return pw_error(error, PAWL_STORE_TOO_NEW,
                        "%s: has schema version %lld, this Pawl knows versions up to %lld; use a newer Pawl",
                        connection->url->path, (long long)version, (long long)newest);
    return status;
}
