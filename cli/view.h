/* view.h - prints an instance for people: its status, what it waits for, what its steps did. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "reference.h"

/* The line with its name, status and run. */
void view_title(struct session *session, struct pw_buffer *out, const struct reference *reference, const char *phase,
                int64_t run);

/* What the run waits for, or the step to repair; nothing if it does not wait.  details: from the server. */
void view_waits(struct session *session, struct pw_buffer *out, const struct reference *reference,
                const json_t *details);

/* instance: the answer of GET, with "children" (a page) if they are to be shown.  history: its steps, the newest last. */
void view_print(struct session *session, struct pw_buffer *out, const struct reference *reference,
                const json_t *instance, const json_t *history, bool is_full);

/* How the run was told to stop: "interrupted: what its steps did is undone before it ends".  meta: the object that has the
 * `demand`.  NULL: it was not told to. */
const char *demand_show(const json_t *meta);

bool has_finished(const json_t *details);
/* The phase, or the status if there is none; phase_show() makes it readable: "waitingForPause" as "about to pause". */
const char *phase_of(const json_t *details);
const char *phase_show(const char *phase);

#endif
