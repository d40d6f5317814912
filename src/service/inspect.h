/* inspect.h - reading one instance, for the calls that answer it. */
#ifndef PW_SERVICE_INSPECT_H
#define PW_SERVICE_INSPECT_H

#include "engine/engine.h"

/* With its current step. */
pawl_status pw_inspect_instance(pawl_engine *engine, pawl_scope *scope, struct pw_text workflow, struct pw_text id,
                                struct pawl_instance *out_instance, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
