/* check.h - what every service call does with its arguments before it reads or writes anything.  A refusal says what is
 * wrong, where, and what would be right; no argument of any kind is a crash. */
#ifndef PW_SERVICE_CHECK_H
#define PW_SERVICE_CHECK_H

#include "engine/engine.h"

/* A refused text as an error shows it: shortened, and in printable ASCII, so that the error is fit for a log line and
 * for JSON.  Returns `out`. */
enum { PW_SHOWN_SIZE = 48 };
const char *pw_check_shown(struct pw_text text, char out[PW_SHOWN_SIZE]);

/* PAWL_INVALID, saying that `name` is missing, when the pointer is NULL. */
pawl_status pw_check_given(const void *argument, const char *name, struct pawl_error *error) PAWL_MUST_CHECK;

/* The same for where an answer goes: its scope, and the place that is called `name`. */
pawl_status pw_check_answer(const void *scope, const void *out_answer, const char *name,
                            struct pawl_error *error) PAWL_MUST_CHECK;

/* Instance ids, event types and event ids are refused with INVALID_INSTANCE_ID, INVALID_EVENT_TYPE and INVALID.  An
 * absent text is refused, too. */
pawl_status pw_check_instance_id(struct pw_text id, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_check_event_type(struct pw_text type, struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_check_event_id(struct pw_text id, struct pawl_error *error) PAWL_MUST_CHECK;

/* What a call that names a workflow, or an instance of it, begins with. */
pawl_status pw_check_workflow(pawl_engine *engine, const char *workflow, struct pw_definition **out_definition,
                              struct pawl_error *error) PAWL_MUST_CHECK;
pawl_status pw_check_target(pawl_engine *engine, const char *workflow, const char *id,
                            struct pw_definition **out_definition, struct pawl_error *error) PAWL_MUST_CHECK;

/* PAWL_INVALID for an inline workflow, which has no instances. */
pawl_status pw_check_creatable(const struct pw_definition *definition, struct pawl_error *error) PAWL_MUST_CHECK;

/* Lays what the caller's options struct has over the defaults in `options`, whose first field is its struct_size.
 * `given` NULL leaves the defaults.  A struct of an older header is shorter; one of a newer header is refused. */
pawl_status pw_check_options(const void *given, void *options, size_t size, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
