/* rows.h - turns the store's rows into the structs that callers see.  Everything is copied into the caller's scope. */
#ifndef PW_SERVICE_ROWS_H
#define PW_SERVICE_ROWS_H

#include "engine/engine.h"

/* Reads an instance.  If there is none, the error says which one. */
pawl_status pw_rows_read(pawl_engine *engine, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                         struct pw_instance *out_row, struct pawl_error *error) PAWL_MUST_CHECK;

/* PAWL_INSTANCE_NOT_FOUND; the error says which one. */
pawl_status pw_rows_not_found(struct pw_text workflow, struct pw_text id, struct pawl_error *error);

/* PAWL_INVALID if an instance with `newest` runs has no such run.  Run 0 is the newest. */
pawl_status pw_rows_check_run(const char *id, int64_t newest, int64_t run, struct pawl_error *error) PAWL_MUST_CHECK;

enum pawl_instance_status pw_rows_status(const struct pw_instance *row);
enum pawl_phase pw_rows_phase(const struct pw_instance *row);
/* The status and phase of an unfinished run with this task. */
struct pawl_standing pw_rows_standing(const struct pw_task *task);

/* PAWL_OK or PAWL_NOMEM; current_step and parent are left NULL. */
pawl_status pw_rows_instance(pawl_scope *scope, const struct pw_instance *row,
                             struct pawl_instance *out_instance) PAWL_MUST_CHECK;
/* Shows the parent, given its row, of an instance with this link. */
pawl_status pw_rows_parent(pawl_scope *scope, const struct pw_link *link, const struct pw_instance *parent,
                           const struct pawl_parent **out_parent) PAWL_MUST_CHECK;
/* Shows a row of a run as a record: a step, an event or a log line.  PAWL_OK or PAWL_NOMEM.  A deferred's secret is not shown. */
typedef pawl_status pw_show_fn(pawl_scope *scope, int64_t run, const void *row, void *out_record);
pw_show_fn pw_rows_step PAWL_MUST_CHECK;  /* struct pw_step_row, struct pawl_step_record */
pw_show_fn pw_rows_event PAWL_MUST_CHECK; /* struct pw_event_row, struct pawl_event_record */
pw_show_fn pw_rows_log PAWL_MUST_CHECK;   /* struct pw_log_row, struct pawl_log_record */

/* The id of a runner as pawl_list_runners() shows it.  NULL when memory runs out. */
const char *pw_rows_runner_id(pawl_scope *scope, int64_t owner);

/* Copies the text to the scope as a C string.  Absent becomes NULL.  False when memory runs out. */
bool pw_rows_string(pawl_scope *scope, struct pw_text text, const char **out_string);

#endif
