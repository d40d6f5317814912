/* log.h - what pawld tells of itself, on standard error: one JSON object a line, or plain lines for a person.
 *
 * A line is written with one call, so lines of different threads and processes do not mix.  Once the log is detached, no
 * thread waits for whoever reads it (writer.h).  Nothing that is handed in may hold a token or a secret. */
#ifndef PAWLD_LOG_H
#define PAWLD_LOG_H

#include <pawl/engine.h>

struct writer;

struct log {
    bool is_json;
    enum pawl_log_level level; /* and what is worse */
    int descriptor;
    struct writer *writer; /* NULL: lines are written at once, by the thread that has something to tell */
};

struct log_field {
    const char *key, *value; /* value NULL: left out */
};

/* format: "json", "plain", "auto" (plain on a terminal).  level: "debug", "info", "warn", "error". */
struct log log_open(const char *format, const char *level);
/* From now on a thread writes the lines; without one to be had, things stay as they are.  The log must stay where it is.
 * Not for a process that forks. */
void log_detach(struct log *log);
/* Writes all lines now, unless nobody reads them. */
void log_flush(const struct log *log);
void log_close(struct log *log);

/* {"time", "level", "message", and the fields}; or "12:00:00 info  message  key=value". */
void log_fields(const struct log *log, enum pawl_log_level level, const struct log_field *fields, size_t count,
                const char *format, ...) PAWL_PRINTF(5, 6);
void log_line(const struct log *log, enum pawl_log_level level, const char *format, ...) PAWL_PRINTF(3, 4);

#endif
