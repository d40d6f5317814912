/* metrics.c - see metrics.h. */
#include "metrics.h"

#include <stdlib.h>
#include <string.h>

enum exit_code metrics_read(struct session *session, struct metrics *out_metrics)
{
    return client_get(session, "/metrics", &out_metrics->answer);
}

double metrics_value(const struct metrics *metrics, const char *name, double fallback)
{
    const char *line = text_string(&metrics->answer.body);
    size_t size = strlen(name);
    while (*line != '\0') {
        if (strncmp(line, name, size) == 0 && line[size] == ' ')
            return strtod(line + size + 1, NULL);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return fallback;
}

void metrics_free(struct metrics *metrics)
{
    answer_free(&metrics->answer);
}
