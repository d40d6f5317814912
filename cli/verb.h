/* verb.h - what a command sends to the server, and how it prints the answer: the part of its row in the table in which
 * similar commands differ.
 *
 * A path has at most one "{...}".  It stands for what the argument names, encoded: the path of an instance, a workflow, a
 * token or a delivery. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "reference.h"
#include "table.h"

/* A member of the body, or a part of the query.  A list of them ends with a NULL name. */
struct field {
    const char *name;
    enum option_id option; /* the field is sent if this option is given; OPTION_NONE: always */
    const char *literal;   /* the value; NULL: the option's value, encoded by its kind */
    const char *said;      /* " that are ": precedes the value in the message of an empty list; or NULL */
};

/* A command has a list of verbs and uses the first that applies.  The last one has no `when`. */
struct verb {
    enum option_id when; /* it applies if this option is given; OPTION_NONE: always */
    const char *path;
    const struct field *fields; /* of the query, or of the body; or NULL */

    /* For lists. */
    const char *rows; /* the member that has them: "runs" */
    const struct column *columns;
    const char *ids;   /* the template of a line of -o ids */
    const char *empty; /* printed on a terminal if there are no rows; or NULL */

    /* For changes. */
    const char *done; /* "told to pause"; a template, filled from the body (run_control) or the answer (run_ask) */
    const char *then; /* appended, unless the run is paused: "; its run goes on" */
    /* True if no change was needed, by the instance before it (run_control) or the answer (run_ask); NULL: one always is. */
    bool (*is_idle)(const json_t *value);
    const char *idle; /* "was not paused" */
    /* The phase in which the change is complete; NULL: it is complete when the server accepts it. */
    const char *reached;
};

/* Lists the instances of a workflow, for code that serves no command. */
extern const struct verb instances_verb;

/* The verb of this command line. */
const struct verb *verb_of(const struct session *session);
/* Replaces the "{...}" of the path by the target. */
const char *verb_path(struct pool *pool, const char *path, const char *target);
/* Appends the fields whose options are given to the path. */
void verb_put_query(const struct session *session, struct pw_buffer *path, const struct field *fields);
/* The same as members of an object, without its braces: "\"name\":\"Refused\",\"retry\":false". */
enum exit_code verb_compose(struct session *session, const struct field *fields, const char **out_members);

/* For is_idle. */
bool instance_is_paused(const json_t *instance);
bool instance_is_not_paused(const json_t *instance);
bool instance_is_stopping(const json_t *instance);
bool instance_is_rolling_back(const json_t *instance);
bool nothing_was_processed(const json_t *answer);

#endif
