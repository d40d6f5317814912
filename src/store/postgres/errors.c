/* errors.c - records the first failure of a connection, and judges from its SQLSTATE what it means and what helps;
 * see errors.h. */
#include "store/postgres/errors.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

bool pw_pg_failed_with(const struct pw_pg_failure *failure, const char *state)
{
    return strcmp(failure->state, state) == 0;
}

static bool is_of_class(const struct pw_pg_failure *failure, const char *class)
{
    return strncmp(failure->state, class, 2) == 0;
}

static bool is_one_of(const struct pw_pg_failure *failure, const char *const *states, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pw_pg_failed_with(failure, states[i]))
            return true;
    return false;
}

/* ---- Taking down --------------------------------------------------------------------------------------------- */

/* Keeps the first line, because libpq and the server end theirs with line breaks and add more behind the first. */
static void keep_line(char *to, size_t size, const char *text)
{
    if (text == NULL)
        text = "";
    (void)snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
    pawl_text_mend(to);
}

void pw_pg_note_result(struct pw_pg_failure *failure, const PGresult *result)
{
    if (failure->failed)
        return;
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *text = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    failure->failed = true;
    failure->by_server = state != NULL;
    failure->fatal = severity != NULL && strcmp(severity, "ERROR") != 0;
    keep_line(failure->state, sizeof failure->state, state);
    keep_line(failure->text, sizeof failure->text, text != NULL ? text : PQresultErrorMessage(result));
    keep_line(failure->relation, sizeof failure->relation, PQresultErrorField(result, PG_DIAG_TABLE_NAME));
}

void pw_pg_note_lost(struct pw_pg_connection *connection, const char *why)
{
    struct pw_pg_failure *failure = &connection->failure;
    failure->lost = true;
    if (failure->failed)
        return;
    failure->failed = true;
    keep_line(failure->text, sizeof failure->text, why != NULL ? why : PQerrorMessage(connection->db));
}

void pw_pg_note_no_memory(struct pw_pg_failure *failure)
{
    failure->failed = true;
    failure->no_memory = true;
}

void pw_pg_note_taken(struct pw_pg_failure *failure, pawl_status taken)
{
    if (taken == PAWL_OK || failure->failed)
        return;
    if (taken == PAWL_NOMEM) {
        pw_pg_note_no_memory(failure);
        return;
    }
    failure->failed = true;
    keep_line(failure->state, sizeof failure->state, "XX001");
    keep_line(failure->text, sizeof failure->text, "a row holds what Pawl cannot have written");
}

/* ---- Judging ------------------------------------------------------------------------------------------------- */

/* False for a server that starts, stops or has too many connections, because it may be better in a moment. */
bool pw_pg_is_hopeless(const char *message)
{
    static const char *const passing[] = { "starting up", "shutting down",    "recovery",
                                           "too many",    "connection slots", "not accepting" };
    if (strstr(message, "FATAL:") == NULL)
        return false;
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (strstr(message, passing[i]) != NULL)
            return false;
    return true;
}

bool pw_pg_is_trouble(const struct pw_pg_failure *failure)
{
    return failure->lost || failure->fatal || failure->no_memory || is_of_class(failure, "53") ||
           is_of_class(failure, "58") || is_of_class(failure, "XX") || is_of_class(failure, "40") ||
           pw_pg_failed_with(failure, "25006") || pw_pg_failed_with(failure, "55P03");
}

/* A unique violation in our own tables is a race that was lost.  A repetition finds the other transaction's row. */
enum pw_pg_cure pw_pg_cure_of(const struct pw_pg_connection *connection)
{
    static const char *const in_the_way[] = { "40001", "40P01", "55P03" };
    const struct pw_pg_failure *failure = &connection->failure;
    if (failure->no_memory)
        return PW_PG_CURE_NONE;
    if (failure->lost || failure->fatal || (pw_pg_failed_with(failure, "25006") && !connection->url->has_one_host))
        return PW_PG_CURE_RECONNECT;
    if (is_one_of(failure, in_the_way, sizeof in_the_way / sizeof in_the_way[0]))
        return PW_PG_CURE_REPEAT;
    if (pw_pg_failed_with(failure, "23505") && strncmp(failure->relation, "workflow_", strlen("workflow_")) == 0)
        return PW_PG_CURE_REPEAT;
    return PW_PG_CURE_NONE;
}

pawl_status pw_pg_error(const struct pw_pg_connection *connection, struct pawl_error *error)
{
    const struct pw_pg_failure *failure = &connection->failure;
    const char *label = connection->url->label;
    if (failure->no_memory)
        return pw_error_plain(error, PAWL_NOMEM);
    if (pw_pg_failed_with(failure, "53100"))
        return pw_error(error, PAWL_STORE_FULL, "%s: the disk is full; make room", label);
    if (pw_pg_failed_with(failure, "25006"))
        return pw_error(error, PAWL_STORE_READ_ONLY,
                        "%s: cannot be written (%s); name the primary, or several hosts and "
                        "target_session_attrs=read-write",
                        label, failure->text);
    if (pw_pg_failed_with(failure, "XX001") || pw_pg_failed_with(failure, "XX002"))
        return pw_error(error, PAWL_STORE_CORRUPT, "%s: the database is damaged (%s); restore it from a backup", label,
                        failure->text);
    if (pw_pg_failed_with(failure, "42P01") || pw_pg_failed_with(failure, "42703"))
        return pw_error(error, PAWL_STORE_CORRUPT,
                        "%s: Pawl's tables are not as it made them, or the role may not use their schema (%s)", label,
                        failure->text);
    if (pw_pg_failed_with(failure, "26000") || pw_pg_failed_with(failure, "42P05"))
        return pw_error(error, PAWL_STORE_UNAVAILABLE,
                        "%s: %s (SQLSTATE %s); behind a pooler that lends sessions for a transaction, give "
                        "pawl_pooler=transaction",
                        label, failure->text, failure->state);
    if (pw_pg_failed_with(failure, "42501"))
        return pw_error(error, PAWL_STORE_UNAVAILABLE,
                        "%s: %s (SQLSTATE %s); grant it to the role, docs/postgres.md has the statements", label,
                        failure->text, failure->state);
    if (failure->state[0] == '\0')
        return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: %s", label, failure->text);
    return pw_error(error, PAWL_STORE_UNAVAILABLE, "%s: %s (SQLSTATE %s)", label, failure->text, failure->state);
}

pawl_status pw_pg_settle(struct pw_pg_connection *connection, struct pawl_error *error)
{
    bool is_fine = pw_pg_finish(connection, pw_system_monotonic_ms() + pw_pg_answer_ms(connection->url));
    return is_fine ? PAWL_OK : pw_pg_error(connection, error);
}
