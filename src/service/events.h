/* events.h - finding an event that a run has had, for who sends it again. */
#ifndef PW_SERVICE_EVENTS_H
#define PW_SERVICE_EVENTS_H

#include "service/edit.h"

/* The event of this id in a run of the edit's instance, in the edit's arena. */
pawl_status pw_event_find(const struct pw_edit *edit, int64_t run, struct pw_text id, struct pw_event_row *out_event,
                          bool *out_found, struct pawl_error *error) PAWL_MUST_CHECK;

#endif
