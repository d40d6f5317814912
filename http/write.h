/* write.h - the engine's answers as JSON, in the one shape that every route shares.  `key` as in text.h.
 *
 * What an instance may lack is left out; what a step, an event or a log line may lack is null.  Payloads are written as
 * they were received, and "no result" is not null: it is left out. */
#ifndef HTTP_WRITE_H
#define HTTP_WRITE_H

#include "common/json_writer.h"
#include "pawl/hooks.h"
#include "pawl/service.h"

/* "error": {name, message}; nothing when there is none. */
void pw_http_write_failure(struct pw_buffer *out, const char *name, const char *message);

/* {status, phase, error?, output?, waitingFor?} */
void pw_http_write_details(struct pw_buffer *out, const char *key, const struct pawl_instance *instance);
/* {id, details} */
void pw_http_write_instance(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, details, createdAt, updatedAt} */
void pw_http_write_listed(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, workflowName, details, createdAt, updatedAt} */
void pw_http_write_child(struct pw_buffer *out, const struct pawl_instance *instance);
/* {runNumber, details, startedAt, completedAt, replacedAt?} */
void pw_http_write_run(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, details, meta} */
void pw_http_write_with_meta(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, runNumber, details} */
void pw_http_write_outcome(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, runNumber, details, updatedAt}: the data of a stream's `status` event. */
void pw_http_write_status_event(struct pw_buffer *out, const struct pawl_instance *instance);

/* The members that a current step has, too, without brackets. */
void pw_http_write_step_members(struct pw_buffer *out, const struct pawl_step_record *step);
void pw_http_write_step(struct pw_buffer *out, const struct pawl_step_record *step);
/* "job": who has it. */
void pw_http_write_step_job(struct pw_buffer *out, const struct pawl_step_job *job);
void pw_http_write_event(struct pw_buffer *out, const struct pawl_event_record *event);
void pw_http_write_log(struct pw_buffer *out, const struct pawl_log_record *log);
void pw_http_write_history(struct pw_buffer *out, const struct pawl_history *history, bool has_logs);

/* Whether there is another page, and how it is asked for; cursor NULL: there is none. */
void pw_http_write_cursor(struct pw_buffer *out, const char *cursor_key, const char *flag_key, const char *cursor);
/* {id, workflowName, runNumber, status, phase, demand?, error?, lastStep?, undone, why} */
void pw_http_write_why(struct pw_buffer *out, const struct pawl_why_answer *why);
/* "waitingFor": the same tree, without what only pawl_why() says. */
void pw_http_write_waiting_for(struct pw_buffer *out, const struct pawl_why_node *node);

/* A job that was claimed. */
void pw_http_write_job(struct pw_buffer *out, const struct pawl_job *job);

void pw_http_write_delivery(struct pw_buffer *out, const struct pawl_delivery_record *record);

#endif
