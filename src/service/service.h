/* service.h (internal) - what layers above may build into their own units of work: another instance, or an event to
 * one, that comes true together with what else the unit records.
 *
 * Both check their arguments as the public calls do and append ops to the unit; nothing has happened until the unit is
 * committed.  Texts are NUL-terminated and borrowed until the unit is answered; what is generated lives in the unit's
 * arena.  After the commit call pw_local_wake(engine, PW_NOW), so that the others need not wait for a poll. */
#ifndef PW_SERVICE_SERVICE_H
#define PW_SERVICE_SERVICE_H

#include "engine/engine.h"

/* id absent: generated.  When the id exists the unit is refused with PAWL_INSTANCE_ID_ALREADY_EXISTS. */
pawl_status pw_service_add_create(pawl_engine *engine, struct pw_unit *unit, struct pw_text workflow, struct pw_text id,
                                  struct pw_text params, struct pawl_error *error) PAWL_MUST_CHECK;

/* Reads the target now and appends its fence, unless the unit has one for it, and the event; wakes the target when it
 * waits for the type.  PAWL_INSTANCE_NOT_FOUND, PAWL_INSTANCE_TERMINAL.
 *
 * The target may move before the unit is committed; then the whole unit is refused with PAWL_BUSY: build it again. */
pawl_status pw_service_add_event(pawl_engine *engine, struct pw_unit *unit, struct pw_text workflow, struct pw_text id,
                                 struct pw_text type, struct pw_text payload, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
