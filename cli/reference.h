/* reference.h - which instances are meant.
 *
 * One is named WORKFLOW/ID, or ID with the workflow from --workflow, PAWL_WORKFLOW or the profile; where nobody says the
 * workflow, the one that has the id is looked for.  The id "latest" is the newest instance.  All words are checked
 * before the server is asked for anything. */
#ifndef CLI_REFERENCE_H
#define CLI_REFERENCE_H

#include "session.h"

struct reference {
    const char *workflow; /* NULL: not said */
    const char *id;       /* may be "latest" until it is resolved */
};

/* Of the arguments and --id: one, which is still to be resolved. */
enum exit_code reference_parse_one(struct session *session, struct reference *out_reference);
/* Any number of them, also from standard input. */
enum exit_code reference_parse_all(struct session *session, struct reference **out_references, size_t *out_count);

/* Asks the server where it must. */
enum exit_code reference_resolve(struct session *session, struct reference *reference);
/* Both. */
enum exit_code reference_find(struct session *session, struct reference *out_reference);

/* "/workflows/order/instances/order-1" */
const char *reference_path(struct pool *pool, const struct reference *reference);
/* "order/order-1" */
const char *reference_name(struct pool *pool, const struct reference *reference);

/* The names of all workflows that the server has, in the pool. */
enum exit_code workflow_names(struct session *session, const char ***out_names, size_t *out_count);
/* Whether it is a workflow's name, and the one that --workflow says; word: what it was said as. */
enum exit_code workflow_check(struct session *session, const char *workflow, const char *word);
/* The workflow of --workflow or the argument; NULL: not said. */
enum exit_code workflow_meant(struct session *session, const char **out_workflow);

/* Words of the arguments, where "-" stands for the lines of standard input. */
struct words {
    const char **items;
    const size_t *lines; /* the number of each line; NULL: they are arguments */
    size_t count;
};
enum exit_code words_read(struct session *session, struct words *out_words);
/* session->problem says what is wrong with a word; it gets the number of its line. */
enum exit_code words_wrong(struct session *session, const struct words *words, size_t position);
/* That standard input is asked for one thing alone; before any of it is read. */
enum exit_code words_check(struct session *session);
/* Whether the server has refused because the token may not see this workflow; it may see others. */
bool workflow_is_withheld(const struct session *session, enum exit_code code);
/* A 404 about a workflow says which there are, or which is meant.  client_ask() sees to that where the workflow is in the
 * path. */
enum exit_code explain_workflow(struct session *session, enum exit_code code, const char *workflow);

#endif
