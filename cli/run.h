/* run.h - what each command does.  Each answers how the program ends; where that is not EXIT_DONE and nothing was printed
 * about it, session->problem says why. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "problem.h"

struct session;

enum exit_code run_status(struct session *session);
enum exit_code run_cluster(struct session *session);
enum exit_code run_workflows_list(struct session *session);
enum exit_code run_instances_list(struct session *session);
enum exit_code run_instances_get(struct session *session);
enum exit_code run_instances_why(struct session *session);
enum exit_code run_instances_watch(struct session *session);
enum exit_code run_instances_history(struct session *session);
enum exit_code run_instances_logs(struct session *session);
enum exit_code run_instances_result(struct session *session);
enum exit_code run_instances_runs(struct session *session);
enum exit_code run_instances_children(struct session *session);
enum exit_code run_instances_execute(struct session *session);
enum exit_code run_instances_create(struct session *session);
enum exit_code run_instances_send_event(struct session *session);
enum exit_code run_instances_pause(struct session *session);
enum exit_code run_instances_resume(struct session *session);
enum exit_code run_instances_restart(struct session *session);
enum exit_code run_instances_retry(struct session *session);
enum exit_code run_instances_interrupt(struct session *session);
enum exit_code run_instances_terminate(struct session *session);
enum exit_code run_deferred_succeed(struct session *session);
enum exit_code run_deferred_fail(struct session *session);
enum exit_code run_jobs_claim(struct session *session);
enum exit_code run_jobs_heartbeat(struct session *session);
enum exit_code run_jobs_complete(struct session *session);
enum exit_code run_jobs_fail(struct session *session);
enum exit_code run_hooks_list(struct session *session);
enum exit_code run_hooks_resend(struct session *session);
enum exit_code run_tick(struct session *session);
enum exit_code run_completion(struct session *session);
enum exit_code run_complete(struct session *session);
enum exit_code run_man(struct session *session);
enum exit_code run_help(struct session *session);

#endif
