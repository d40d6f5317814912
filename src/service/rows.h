/* rows.h - from what the store keeps to what a caller sees.  Everything is copied into the caller's scope. */
#ifndef PW_SERVICE_ROWS_H
#define PW_SERVICE_ROWS_H

#include "engine/engine.h"

/* Reads an instance, and says which one when there is none. */
pawl_status pw_rows_read(pawl_engine *engine, struct pw_arena *arena, struct pw_text workflow, struct pw_text id,
                         struct pw_instance *out_row, struct pawl_error *error) PAWL_MUST_CHECK;

/* PAWL_INSTANCE_NOT_FOUND, saying which one. */
pawl_status pw_rows_not_found(struct pw_text workflow, struct pw_text id, struct pawl_error *error);

/* PAWL_INVALID when an instance of `newest` runs has not had this one; 0 stands for the newest. */
pawl_status pw_rows_check_run(const char *id, int64_t newest, int64_t run, struct pawl_error *error) PAWL_MUST_CHECK;

enum pawl_instance_status pw_rows_status(const struct pw_instance *row);
/* Of an unfinished run with this task. */
struct pawl_standing pw_rows_standing(const struct pw_task *task);

/* PAWL_OK or PAWL_NOMEM; current_step and parent are left NULL. */
pawl_status pw_rows_instance(pawl_scope *scope, const struct pw_instance *row,
                             struct pawl_instance *out_instance) PAWL_MUST_CHECK;
/* The parent of an instance with this link, whose row is given. */
pawl_status pw_rows_parent(pawl_scope *scope, const struct pw_link *link, const struct pw_instance *parent,
                           const struct pawl_parent **out_parent) PAWL_MUST_CHECK;
/* What only the engine may know stays inside: a deferred's secret, and that its own events begin with "$". */
pawl_status pw_rows_step(pawl_scope *scope, int64_t run, const struct pw_step_row *row,
                         struct pawl_step_record *out_step) PAWL_MUST_CHECK;
pawl_status pw_rows_event(pawl_scope *scope, int64_t run, const struct pw_event_row *row,
                          struct pawl_event_record *out_event) PAWL_MUST_CHECK;
pawl_status pw_rows_log(pawl_scope *scope, int64_t run, const struct pw_log_row *row,
                        struct pawl_log_record *out_log) PAWL_MUST_CHECK;

/* A text as a C string of the scope: NULL for absent.  False when memory is out. */
bool pw_rows_string(pawl_scope *scope, struct pw_text text, const char **out_string);

#endif
