/* check.h - how service calls check their arguments before they read or write anything.  A refusal says what is
 * wrong, where, and what would be right.  No argument can crash the library. */
#ifndef PW_SERVICE_CHECK_H
#define PW_SERVICE_CHECK_H

#include "engine/engine.h"

/* Formats a refused text for an error: shortened, and in printable ASCII, so that the error is fit for a log line
 * and for JSON.  Returns `out`. */
enum { PW_SHOWN_SIZE = 48 };
const char *pw_check_shown(struct pw_text text, char out[PW_SHOWN_SIZE]);

/* PAWL_INVALID if the pointer is NULL; the error says that `name` is missing. */
pawl_status pw_check_given(const void *argument, const char *name, struct pawl_error *error) PAWL_MUST_CHECK;

/* The same for the scope and the out parameter of an answer; `name` names the latter. */
pawl_status pw_check_answer(const void *scope, const void *out_answer, const char *name,
                            struct pawl_error *error) PAWL_MUST_CHECK;

/* Refuse with PAWL_INVALID_INSTANCE_ID, PAWL_INVALID_EVENT_TYPE and PAWL_INVALID.  They also refuse an absent text. */
pawl_status pw_check_instance_id(struct pw_text id, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_check_event_type(struct pw_text type, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_check_event_id(struct pw_text id, struct pawl_error *error) PAWL_MUST_CHECK;

/* For calls that name a workflow, or an instance of it. */
pawl_status pw_check_workflow(pawl_engine *engine, const char *workflow, struct pw_definition **out_definition,
                              struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_check_target(pawl_engine *engine, const char *workflow, const char *id,
                            struct pw_definition **out_definition, struct pawl_error *error) PAWL_MUST_CHECK;

/* Refuses an inline workflow, which has no instances, with PAWL_INVALID. */
pawl_status pw_check_creatable(const struct pw_definition *definition, struct pawl_error *error) PAWL_MUST_CHECK;

/* Copies the caller's options over the defaults in `options`, whose first field is its struct_size.  `given` NULL
 * keeps the defaults.  A struct of an older header is shorter.  A struct of a newer header is refused. */
pawl_status pw_check_options(const void *given, void *options, size_t size, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
