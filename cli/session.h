/* session.h - everything that a command works with, from its command line to the connection. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "client.h"
#include "invocation.h"
#include "json_output.h"
#include "picture.h"
#include "screen.h"
#include "settings.h"

struct session {
    struct pool pool;
    struct problem problem;
    struct invocation invocation;
    struct settings settings;
    struct screen screen;
    struct client client;
    struct picture picture;
    struct pw_buffer out; /* what is to be printed; see session_print() */
};

/* Writes session->out to standard output, at once. */
enum exit_code session_print(struct session *session);

/* Appends the value, or the server's answer as it came: indented on a terminal, else on one line. */
void session_put_json(struct session *session, const json_t *value);
void session_put_answer(struct session *session, const struct answer *answer);
/* Appends a value on one line, for outputs that are a line for each value. */
void session_put_line(struct session *session, const json_t *value);

bool session_is_json(const struct session *session);
bool session_is_ids(const struct session *session);
const char *session_option(const struct session *session, enum option_id id); /* NULL: not given */
bool session_has(const struct session *session, enum option_id id);

/* "1,204" */
const char *number_show(struct pool *pool, int64_t number);
/* "1 instance", "2 instances". */
const char *counted(struct pool *pool, int64_t count, const char *thing);

#endif
