/* session.c - see session.h. */
#include "session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* When the reader of a pipe has gone (`| head -1`), SIGPIPE usually ends the program silently.  But curl blocks that signal
 * during a transfer, and events of a stream are printed during one.  So this raises it. */
static void end_if_nobody_reads(void)
{
    if (errno != EPIPE)
        return;
    (void)signal(SIGPIPE, SIG_DFL);
    (void)raise(SIGPIPE);
}

enum exit_code session_print(struct session *session)
{
    bool is_written =
        session->out.size == 0 || fwrite(text_string(&session->out), 1, session->out.size, stdout) == session->out.size;
    is_written = fflush(stdout) == 0 && is_written;
    if (!is_written)
        end_if_nobody_reads();
    pw_buffer_reset(&session->out);
    return is_written ? EXIT_DONE
                      : problem_set(&session->problem, EXIT_UNREACHABLE, "OUTPUT_FAILED",
                                    "the output cannot be written: %s", strerror(errno));
}

static size_t indent_of(const struct session *session)
{
    return session->screen.is_terminal ? 2 : 0;
}

void session_put_json(struct session *session, const json_t *value)
{
    json_write(&session->out, value, indent_of(session));
    pw_buffer_put(&session->out, "\n");
}

void session_put_line(struct session *session, const json_t *value)
{
    json_write(&session->out, value, 0);
    pw_buffer_put(&session->out, "\n");
}

void session_put_answer(struct session *session, const struct answer *answer)
{
    json_lay_out(&session->out, answer->body, answer->size, indent_of(session));
    pw_buffer_put(&session->out, "\n");
}

bool session_is_json(const struct session *session)
{
    return session->settings.format == FORMAT_IS_JSON;
}

bool session_is_ids(const struct session *session)
{
    return session->settings.format == FORMAT_IS_IDS;
}

const char *session_option(const struct session *session, enum option_id id)
{
    return session->invocation.values[id];
}

bool session_has(const struct session *session, enum option_id id)
{
    return invocation_has(&session->invocation, id);
}

const char *number_show(struct pool *pool, int64_t number)
{
    const char *behind = "";
    for (; number >= 1000; number /= 1000)
        behind = pool_format(pool, ",%03lld%s", (long long)(number % 1000), behind);
    return pool_format(pool, "%lld%s", (long long)number, behind);
}

const char *counted(struct pool *pool, int64_t count, const char *thing)
{
    return pool_format(pool, "%lld %s%s", (long long)count, thing, count == 1 ? "" : "s");
}
