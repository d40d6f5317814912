/* log.h - pawld's log on standard error: one JSON object a line, or plain lines for people.
 *
 * Each line is written with one call, so that lines of different threads and processes do not mix.  Once the log is
 * detached, no thread waits for its reader (writer.h).  Callers must not pass tokens or secrets. */
#ifndef PAWLD_LOG_H
#define PAWLD_LOG_H

#include <pawl/engine.h>

struct writer;

struct log {
    bool is_json;
    enum pawl_log_level level; /* this level and worse ones */
    int descriptor;
    struct writer *writer; /* NULL: the thread that logs writes the line itself */
};

struct log_field {
    const char *key, *value; /* a field with a NULL value is left out */
};

/* format: "json", "plain" or "auto" (plain on a terminal). level: "debug", "info", "warn" or "error". */
struct log log_open(const char *format, const char *level);
/* Lets a thread of its own write the lines from now on, if one can be started.  The log must not move in memory
 * afterwards.  Not for a process that forks. */
void log_detach(struct log *log);
/* Waits until all lines are written, at most a second. */
void log_flush(const struct log *log);
void log_close(struct log *log);

/* Logs {"time", "level", "message", and the fields}, or "12:00:00 info  message  key=value". */
void log_fields(const struct log *log, enum pawl_log_level level, const struct log_field *fields, size_t count,
                const char *format, ...) PAWL_PRINTF(5, 6);
void log_line(const struct log *log, enum pawl_log_level level, const char *format, ...) PAWL_PRINTF(3, 4);

#endif
