/* metrics.h - the server's figures, out of the text that it writes for Prometheus. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H

#include "session.h"

struct metrics {
    struct answer answer;
};

enum exit_code metrics_read(struct session *session, struct metrics *out_metrics);
/* name: with its labels as the server writes them: pawl_instances{status="active"}. */
double metrics_value(const struct metrics *metrics, const char *name, double fallback);
void metrics_free(struct metrics *metrics);

#endif
