/* verb.h - what a command asks of the server, and what it says of the answer: the part of its row in the table that differs
 * from those of its like.
 *
 * A path has one "{...}", which stands for what the argument names, encoded: an instance's whole path, a workflow, a token
 * or a delivery. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "reference.h"
#include "table.h"

/* A member of the body, or a part of the query.  A list of them ends with a NULL name. */
struct field {
    const char *name;
    enum option_id option; /* it is sent if this is given; OPTION_NONE: always */
    const char *literal;   /* what is sent; NULL: the option's value, as its kind says */
    const char *said;      /* " that are ": stands before the value where a list says that it is empty; or NULL */
};

/* A command has a list of them, and takes the first that serves: one without `when` stands last. */
struct verb {
    enum option_id when; /* it serves if this is given; OPTION_NONE: always */
    const char *path;
    const struct field *fields; /* of the query, or of the body; or NULL */

    /* Of a list. */
    const char *rows; /* the member that has them: "runs" */
    const struct column *columns;
    const char *ids;   /* the template of a line of -o ids */
    const char *empty; /* what is said on a terminal when there are none; or NULL */

    /* Of a change. */
    const char *done; /* "told to pause"; a template: of the body for many, of the answer for one */
    const char *then; /* said behind it, unless the run is paused: "; its run goes on" */
    /* Whether there was nothing to do, by the instance as it was before, or by the answer for one; NULL: there always is. */
    bool (*is_idle)(const json_t *value);
    const char *idle; /* "was not paused" */
    /* The phase in which what was asked for has come to be; NULL: it has when the server says yes. */
    const char *reached;
};

/* The instances of a workflow, where no command asks for them. */
extern const struct verb instances_verb;

/* The verb of this command line. */
const struct verb *verb_of(const struct session *session);
/* The path, with the target in place of its "{...}". */
const char *verb_path(struct pool *pool, const char *path, const char *target);
/* Appends the fields whose options are given to the path. */
void verb_put_query(const struct session *session, struct pw_buffer *path, const struct field *fields);
/* The same as members of an object, without its braces: "\"name\":\"Refused\",\"retry\":false". */
enum exit_code verb_compose(struct session *session, const struct field *fields, const char **out_members);

/* Which things are as they are to be already. */
bool instance_is_paused(const json_t *instance);
bool instance_is_not_paused(const json_t *instance);
bool instance_is_stopping(const json_t *instance);
bool instance_is_rolling_back(const json_t *instance);
bool nothing_was_processed(const json_t *answer);

#endif
