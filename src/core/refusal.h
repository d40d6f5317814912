/* refusal.h - why a unit of work was not applied although the store works.
 *
 * A refusal concerns one unit.  The unit changes nothing, and the other units of the batch are not affected.
 * Trouble of the store itself is not a refusal: it is a pawl_status and fails the whole batch.
 *
 * Some refusals keep the chain of a turn (struct pw_chain in ops.h), because the turn can handle them and go on.
 * All others break it.
 *
 *   X(name, status that outside callers see, keeps the chain, text) */
#ifndef PW_CORE_REFUSAL_H
#define PW_CORE_REFUSAL_H

#include <stdbool.h>

#include "pawl/status.h"

#define PW_REFUSAL_LIST(X)                                                                                             \
    X(MOVED, PAWL_CONFLICT, false, "the run has moved on")                                                             \
    X(NO_INSTANCE, PAWL_INSTANCE_NOT_FOUND, true, "there is no such instance")                                         \
    X(ENDED, PAWL_INSTANCE_TERMINAL, true, "the instance has finished")                                                \
    X(PAUSE_REQUESTED, PAWL_BUSY, true, "a pause is requested")                                                        \
    X(NEW_EVENTS, PAWL_BUSY, true, "an event came that the turn has not seen")                                         \
    X(DEMANDED, PAWL_BUSY, true, "something is demanded of the run that the turn has not seen")                        \
    X(REPAIR, PAWL_BUSY, true, "the run waits for repair")                                                             \
    X(INSTANCE_EXISTS, PAWL_INSTANCE_ID_ALREADY_EXISTS, true, "the workflow has an instance of this id already")       \
    X(EVENT_EXISTS, PAWL_INSTANCE_ID_ALREADY_EXISTS, true, "the run has an event of this id already")                  \
    X(TOO_MANY_EVENTS, PAWL_MAX_EVENTS_EXCEEDED, true, "the run has too many events that no step has taken")           \
    X(UNIQUE, PAWL_STEP_UNIQUE_CONSTRAINT_VIOLATION, true, "a row of the user's is there already")                     \
    X(MUTATION_FAILED, PAWL_STEP_MUTATION_FAILED, true, "the user's change failed")

enum pw_refusal {
    PW_REFUSED_NOT = 0,
#define PW_REFUSAL_NAME(name, status, keeps_chain, text) PW_REFUSED_##name,
    PW_REFUSAL_LIST(PW_REFUSAL_NAME)
#undef PW_REFUSAL_NAME
};

/* PAWL_OK for PW_REFUSED_NOT. */
pawl_status pw_refusal_status(enum pw_refusal refusal);
bool pw_refusal_keeps_chain(enum pw_refusal refusal);
const char *pw_refusal_text(enum pw_refusal refusal);

#endif
