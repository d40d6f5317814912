/* log.c - see log.h. */
#include "log.h"

#include <errno.h>
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/json_writer.h"
#include "writer.h"

enum { MESSAGE_SIZE = 2048, FLUSH_MS_MAX = 1000 };

struct log log_open(const char *format, const char *level)
{
    struct log log = { .level = PAWL_LOG_INFO, .descriptor = STDERR_FILENO };
    log.is_json = strcmp(format, "json") == 0 || (strcmp(format, "auto") == 0 && isatty(STDERR_FILENO) != 1);
    for (enum pawl_log_level at = PAWL_LOG_DEBUG; at <= PAWL_LOG_ERROR; at++) {
        if (strcmp(pawl_log_level_name(at), level) == 0)
            log.level = at;
    }
    return log;
}

static void put_member(struct pw_buffer *line, const char *key, const char *value)
{
    char text[MESSAGE_SIZE];
    (void)snprintf(text, sizeof text, "%s", value);
    pawl_text_mend(text);
    pw_json_string(line, key, text);
}

/* Replaces control characters, so that a plain line stays one line. */
static void put_plain(struct pw_buffer *line, const char *text)
{
    size_t from = line->size;
    pw_buffer_put(line, text);
    for (size_t i = from; i < line->size; i++) {
        if ((unsigned char)line->data[i] < ' ')
            line->data[i] = ' ';
    }
}

static void compose_json(struct pw_buffer *line, enum pawl_log_level level, const struct log_field *fields,
                         size_t count, const char *message)
{
    struct timeval now;
    (void)gettimeofday(&now, NULL);
    pw_json_open(line, NULL, '{');
    pw_json_time(line, "time", (int64_t)now.tv_sec * 1000 + now.tv_usec / 1000);
    put_member(line, "level", pawl_log_level_name(level));
    put_member(line, "message", message);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].value != NULL)
            put_member(line, fields[i].key, fields[i].value);
    }
    pw_json_close(line, '}');
}

static void compose_plain(struct pw_buffer *line, enum pawl_log_level level, const struct log_field *fields,
                          size_t count, const char *message)
{
    time_t now = time(NULL);
    struct tm parts;
    char moment[64];
    (void)localtime_r(&now, &parts);
    (void)strftime(moment, sizeof moment, "%H:%M:%S", &parts);
    pw_buffer_format(line, "%s %-5s ", moment, pawl_log_level_name(level));
    put_plain(line, message);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].value == NULL)
            continue;
        pw_buffer_format(line, "  %s=", fields[i].key);
        put_plain(line, fields[i].value);
    }
}

/* Returns the line with its newline, or an empty buffer without memory. */
static struct pw_buffer compose(const struct log *log, enum pawl_log_level level, const struct log_field *fields,
                                size_t count, const char *message)
{
    struct pw_buffer line = { 0 };
    if (log->is_json)
        compose_json(&line, level, fields, count, message);
    else
        compose_plain(&line, level, fields, count, message);
    pw_buffer_put(&line, "\n");
    if (line.failed)
        pw_buffer_clear(&line);
    return line;
}

static void write_line(const struct log *log, enum pawl_log_level level, const struct log_field *fields, size_t count,
                       const char *format, va_list arguments)
{
    char message[MESSAGE_SIZE];
    if (level < log->level)
        return;
    (void)vsnprintf(message, sizeof message, format, arguments);
    pawl_text_mend(message);
    struct pw_buffer line = compose(log, level, fields, count, message);
    if (log->writer != NULL)
        writer_add(log->writer, line.data, line.size);
    else
        while (write(log->descriptor, line.data, line.size) < 0 && errno == EINTR)
            ;
    pw_buffer_clear(&line);
}

/* ---- Without waiting --------------------------------------------------------------------------------------------- */

static size_t tell_dropped(void *user, int64_t dropped, char *text, size_t size)
{
    const struct log *log = user;
    char message[128];
    (void)snprintf(message, sizeof message, "%lld lines of this log were dropped because nobody read it",
                   (long long)dropped);
    struct pw_buffer line = compose(log, PAWL_LOG_WARN, NULL, 0, message);
    size_t fitting = line.size < size ? line.size : size;
    if (fitting > 0)
        memcpy(text, line.data, fitting);
    pw_buffer_clear(&line);
    return fitting;
}

void log_detach(struct log *log)
{
    log->writer = writer_open(log->descriptor, tell_dropped, log);
}

void log_flush(const struct log *log)
{
    if (log->writer != NULL)
        (void)writer_flush(log->writer, FLUSH_MS_MAX);
}

void log_close(struct log *log)
{
    writer_close(log->writer);
    log->writer = NULL;
}

/* ---- Telling ------------------------------------------------------------------------------------------------------ */

void log_fields(const struct log *log, enum pawl_log_level level, const struct log_field *fields, size_t count,
                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(log, level, fields, count, format, arguments);
    va_end(arguments);
}

void log_line(const struct log *log, enum pawl_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(log, level, NULL, 0, format, arguments);
    va_end(arguments);
}
