/* guard.c - see guard.h.  SQLite calls the authorizer at each prepare, for triggers of the user's tables as well. */
#include "store/sqlite/guard.h"

static bool is_ours(const char *name)
{
    static const char *const ours[] = {
        "workflow_instance", "workflow_task",      "workflow_step",  "workflow_event",  "workflow_log",
        "workflow_schema",   "workflow_instances", "workflow_tasks", "workflow_steps",  "workflow_events",
        "workflow_logs",     "workflow_hook",      "workflow_hooks", "workflow_runner", "workflow_runners",
        "workflow_set",      "workflow_run",       "workflow_runs",
    };

    for (size_t position = 0; name != NULL && position < sizeof ours / sizeof ours[0]; position++)
        if (sqlite3_stricmp(name, ours[position]) == 0)
            return true;
    return false;
}

static int judge(void *user, int action, const char *first, const char *second, const char *database,
                 const char *trigger)
{
    const struct pw_sqlite_connection *connection = user;
    (void)database;
    (void)trigger;
    if (!connection->user_is_running)
        return SQLITE_OK;

    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
    case SQLITE_PRAGMA:
        return SQLITE_DENY;
    default: /* everything else changes something; SQLite names the table first or second */
        return is_ours(first) || is_ours(second) ? SQLITE_DENY : SQLITE_OK;
    }
}

int pw_sqlite_install_guard(struct pw_sqlite_connection *connection)
{
    return sqlite3_set_authorizer(connection->db, judge, connection);
}
