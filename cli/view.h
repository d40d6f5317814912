/* view.h - an instance, drawn for people: how it stands, what it waits for, what its steps did. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include "reference.h"

/* The line with its name, status and run. */
void view_title(struct session *session, struct pw_buffer *out, const struct reference *reference, const char *phase,
                int64_t run);

/* What the run waits for, or the step that is to be mended.  details: as the server answers them; nothing where it does not wait. */
void view_waits(struct session *session, struct pw_buffer *out, const struct reference *reference,
                const json_t *details);

/* instance: as GET answers it, with its "children" (a page of them) where they are to be shown.  history: its steps, the newest last. */
void view_print(struct session *session, struct pw_buffer *out, const struct reference *reference,
                const json_t *instance, const json_t *history, bool is_full);

/* How a run that is to stop was asked to, and what that means: "interrupted: what its steps did is undone before it ends".
 * meta: what the server says with a `demand`.  NULL: it was not asked. */
const char *demand_show(const json_t *meta);

/* Whether the run of these details has finished. */
bool has_finished(const json_t *details);
/* "running", "waitingForPause" as "waiting for pause"; what is shown of details. */
const char *phase_of(const json_t *details);
const char *phase_show(const char *phase);

#endif
