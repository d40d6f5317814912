/* write.h - writes the engine's answers as JSON, in the one shape that all routes share.  `key` is as in
 * common/json_writer.h.
 *
 * Missing values of an instance are left out.  Missing values of a step, an event or a log line are null.  Payloads
 * are written as they were received.  "No result" is left out, because it is not null. */
#ifndef HTTP_WRITE_H
#define HTTP_WRITE_H

#include "common/json_writer.h"
#include "pawl/hooks.h"
#include "pawl/service.h"

/* Writes "error": {name, message}, or nothing if name is NULL. */
void pw_http_write_failure(struct pw_buffer *out, const char *name, const char *message);

/* {status, phase, error?, output?, waitingFor?} */
void pw_http_write_details(struct pw_buffer *out, const char *key, const struct pawl_instance *instance);
/* {id, details} */
void pw_http_write_instance(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, details, version?, createdAt, updatedAt} */
void pw_http_write_listed(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, workflowName, details, version?, createdAt, updatedAt} */
void pw_http_write_child(struct pw_buffer *out, const struct pawl_instance *instance);
/* {runNumber, details, version?, startedAt, completedAt, replacedAt?} */
void pw_http_write_run(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, details, meta} */
void pw_http_write_with_meta(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, runNumber, details} */
void pw_http_write_outcome(struct pw_buffer *out, const struct pawl_instance *instance);
/* {id, runNumber, details, updatedAt}: the data of a stream's `status` event. */
void pw_http_write_status_event(struct pw_buffer *out, const struct pawl_instance *instance);

/* Writes the members that steps and the current step of an instance share, without braces. */
void pw_http_write_step_members(struct pw_buffer *out, const struct pawl_step_record *step);
void pw_http_write_step(struct pw_buffer *out, const struct pawl_step_record *step);
/* Writes "job": the function, who holds it, and until when. */
void pw_http_write_step_job(struct pw_buffer *out, const struct pawl_step_job *job);
void pw_http_write_event(struct pw_buffer *out, const struct pawl_event_record *event);
void pw_http_write_log(struct pw_buffer *out, const struct pawl_log_record *log);
void pw_http_write_history(struct pw_buffer *out, const struct pawl_history *history, bool has_logs);

/* Writes whether there is another page, and its cursor. cursor is NULL if there is none. */
void pw_http_write_cursor(struct pw_buffer *out, const char *cursor_key, const char *flag_key, const char *cursor);
/* {id, workflowName, runNumber, status, phase, demand?, error?, lastStep?, undone, why} */
void pw_http_write_why(struct pw_buffer *out, const struct pawl_why_answer *why);
/* Writes "waitingFor": the same tree without what only pawl_why() reports. */
void pw_http_write_waiting_for(struct pw_buffer *out, const struct pawl_why_node *node);

/* A claimed job, as its worker gets it. */
void pw_http_write_job(struct pw_buffer *out, const struct pawl_job *job);

void pw_http_write_delivery(struct pw_buffer *out, const struct pawl_delivery_record *record);

#endif
