/* reference.h - names of instances.
 *
 * An instance is named WORKFLOW/ID, or ID with the workflow from --workflow, PAWL_WORKFLOW or the profile.  Without a
 * workflow, all workflows are searched for the id.  The id "latest" is the newest instance.  All words are checked before
 * anything is sent to the server. */
#ifndef CLI_REFERENCE_H
#define CLI_REFERENCE_H

#include "session.h"

struct reference {
    const char *workflow; /* NULL: not given */
    const char *id;       /* may be "latest" until it is resolved */
};

/* Reads one instance from the arguments and --id; it is not resolved yet. */
enum exit_code reference_parse_one(struct session *session, struct reference *out_reference);
/* Reads any number of instances, also from standard input. */
enum exit_code reference_parse_all(struct session *session, struct reference **out_references, size_t *out_count);

/* Finds the workflow and the id, by asking the server if necessary. */
enum exit_code reference_resolve(struct session *session, struct reference *reference);
/* reference_parse_one() and reference_resolve(). */
enum exit_code reference_find(struct session *session, struct reference *out_reference);

/* "/workflows/order/instances/order-1" */
const char *reference_path(struct pool *pool, const struct reference *reference);
/* "order/order-1" */
const char *reference_name(struct pool *pool, const struct reference *reference);

/* The names of all workflows that the server has, in the pool. */
enum exit_code workflow_names(struct session *session, const char ***out_names, size_t *out_count);
/* Checks that it is a workflow's name and does not contradict --workflow.  word: what the user wrote. */
enum exit_code workflow_check(struct session *session, const char *workflow, const char *word);
/* The workflow from the argument or --workflow; NULL: not given. */
enum exit_code workflow_meant(struct session *session, const char **out_workflow);

/* Words of the arguments, where "-" stands for the lines of standard input. */
struct words {
    const char **items;
    const size_t *lines; /* the number of each line; NULL: they are arguments */
    size_t count;
};
enum exit_code words_read(struct session *session, struct words *out_words);
/* Adds the line number of the word to session->problem, which says what is wrong with it. */
enum exit_code words_wrong(struct session *session, const struct words *words, size_t position);
/* Checks that standard input is used for one thing only, before any of it is read. */
enum exit_code words_check(struct session *session);
/* True if the server refused because the token may not read this workflow; it may read others. */
bool workflow_is_withheld(const struct session *session, enum exit_code code);
/* Adds a suggestion to the 404 of an unknown workflow.  client_ask() does so for workflows in the path. */
enum exit_code explain_workflow(struct session *session, enum exit_code code, const char *workflow);

#endif
