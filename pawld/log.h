/* log.h - what pawld tells of itself, on standard error: one JSON object a line, or plain lines for a person.
 *
 * A line is written with one call, so lines of different threads and processes do not mix.  Nothing that is handed in
 * may hold a token or a secret. */
#ifndef PAWLD_LOG_H
#define PAWLD_LOG_H

#include <pawl/engine.h>

struct log {
    bool is_json;
    enum pawl_log_level level; /* and what is worse */
    int descriptor;
};

struct log_field {
    const char *key, *value; /* value NULL: left out */
};

/* format: "json", "plain", "auto" (plain on a terminal).  level: "debug", "info", "warn", "error". */
struct log log_open(const char *format, const char *level);

/* {"time", "level", "message", and the fields}; or "12:00:00 info  message  key=value". */
void log_fields(const struct log *log, enum pawl_log_level level, const struct log_field *fields, size_t count,
                const char *format, ...) PAWL_PRINTF(5, 6);
void log_line(const struct log *log, enum pawl_log_level level, const char *format, ...) PAWL_PRINTF(3, 4);

#endif
