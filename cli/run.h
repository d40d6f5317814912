/* run.h - the functions of the commands.  Each returns the program's exit code.  If that is not EXIT_DONE and nothing was
 * printed about it, session->problem says why. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "problem.h"

struct session;

/* These serve several commands each, which differ only by their verbs (verb.h). */
enum exit_code run_list(struct session *session);
enum exit_code run_control(struct session *session);
enum exit_code run_ask(struct session *session);

enum exit_code run_status(struct session *session);
enum exit_code run_cluster(struct session *session);
enum exit_code run_instances_get(struct session *session);
enum exit_code run_instances_why(struct session *session);
enum exit_code run_instances_watch(struct session *session);
enum exit_code run_instances_history(struct session *session);
enum exit_code run_instances_logs(struct session *session);
enum exit_code run_instances_result(struct session *session);
enum exit_code run_instances_execute(struct session *session);
enum exit_code run_instances_create(struct session *session);
enum exit_code run_jobs_claim(struct session *session);
enum exit_code run_completion(struct session *session);
enum exit_code run_complete(struct session *session);
enum exit_code run_man(struct session *session);
enum exit_code run_help(struct session *session);

#endif
