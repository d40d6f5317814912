/* operations.h - the steps of all routes.
 *
 * A route's first step is called when the request is authorized and its method and query keys are valid.  A route
 * whose call waits has a second step (`_done`, `_look` or `_carry_on`), which carries it on. */
#ifndef HTTP_OPERATIONS_H
#define HTTP_OPERATIONS_H

#include "http/routes.h"
#include "pawl/service.h"

/* create.c */
pw_http_step_fn pw_http_create, pw_http_create_done;
pw_http_step_fn pw_http_create_batch, pw_http_create_batch_done;

/* instances.c */
pw_http_step_fn pw_http_list_workflows, pw_http_list_instances, pw_http_list_children, pw_http_list_runs, pw_http_why;
pw_http_step_fn pw_http_count_instances;
pw_http_step_fn pw_http_get, pw_http_history;

/* control.c */
pw_http_step_fn pw_http_pause, pw_http_resume, pw_http_terminate, pw_http_interrupt, pw_http_retry, pw_http_restart;
pw_http_step_fn pw_http_send_event, pw_http_send_event_done;
pw_http_step_fn pw_http_run_tick, pw_http_run_tick_done;

/* result.c */
pw_http_step_fn pw_http_result, pw_http_result_look;
/* Answers when the instance of match.workflow and match.id has finished, or after wait_ms.  pw_http_result_look()
 * carries it on. */
pawl_status pw_http_result_await(pawl_http_call *call, int64_t wait_ms);
/* Answers {id, runNumber, details}: 200 if the run has finished, else 202. */
pawl_status pw_http_answer_outcome(pawl_http_call *call, const struct pawl_instance *instance);

/* execute.c */
pw_http_step_fn pw_http_execute, pw_http_execute_carry_on, pw_http_poll;

/* settle.c */
pw_http_step_fn pw_http_settle_succeed, pw_http_settle_fail, pw_http_settle_done;

/* jobs.c */
pw_http_step_fn pw_http_job_claim, pw_http_job_claim_carry_on;
pw_http_step_fn pw_http_job_heartbeat, pw_http_job_heartbeat_done;

/* stream.c */
pw_http_step_fn pw_http_stream;

/* deliveries.c */
pw_http_step_fn pw_http_list_deliveries, pw_http_resend;

/* cluster.c */
pw_http_step_fn pw_http_cluster, pw_http_list_shards;

/* health.c */
pw_http_step_fn pw_http_live, pw_http_ready, pw_http_ready_look, pw_http_version, pw_http_metrics, pw_http_describe;

#endif
