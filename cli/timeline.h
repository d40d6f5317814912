/* timeline.h - the steps of a run as bars on a common scale of time. */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "session.h"

struct timeline {
    const json_t *steps; /* as the API shows them, in the order of their creation */
    int64_t end_ms;      /* when the run ended, or now */
    bool has_ended;      /* then steps that wait were cut off */
    bool with_results;   /* a line for each result */
};

void timeline_print(struct session *session, struct pw_buffer *out, const struct timeline *timeline);

/* How long a step took, or has been waiting. */
int64_t step_took_ms(const json_t *step, int64_t now_ms);
/* "do", "sleep", "event", "first", "call", "child", "deferred": short for people. */
const char *step_kind(const json_t *step);

#endif
