/* log.c - see log.h. */
#include "log.h"

#include <errno.h>
#include <pawl/pawl.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "writer.h"

/* A text of 2 KiB with nothing but escapes in it has 12 KiB: a message always fits the line. */
enum { MESSAGE_SIZE = 2048, LINE_SIZE = 16384, FLUSH_MS_MAX = 1000 };

struct line {
    char text[LINE_SIZE];
    size_t size;
};

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

/* False: it does not fit.  Room is kept for the line's end. */
static bool add(struct line *line, const char *text)
{
    size_t size = strlen(text);
    if (line->size + size + 4 > LINE_SIZE)
        return false;
    memcpy(line->text + line->size, text, size);
    line->size += size;
    return true;
}

/* As a JSON string.  The library's writer does the escapes. */
static bool add_json(struct line *line, const char *text)
{
    char plain[MESSAGE_SIZE];
    const char *quoted = "\"\"";
    size_t size;
    pawl_value *value;
    pawl_scope *scope = pawl_scope_new();
    (void)snprintf(plain, sizeof plain, "%s", text);
    pawl_text_mend(plain);
    pawl_status status = scope != NULL ? pawl_value_pack(scope, &value, "s", plain) : PAWL_NOMEM;
    if (status == PAWL_OK && pawl_value_text(scope, value, &quoted, &size) != PAWL_OK)
        quoted = "\"\"";
    bool fits = add(line, quoted);
    pawl_scope_free(scope);
    return fits;
}

/* Wholly, or not at all. */
static void add_member(struct line *line, const char *key, const char *value)
{
    size_t before = line->size;
    if (!add(line, before == 0 ? "{" : ", ") || !add_json(line, key) || !add(line, ": ") || !add_json(line, value))
        line->size = before;
}

/* A plain line stays one line. */
static void add_plain(struct line *line, const char *text)
{
    size_t from = line->size;
    (void)add(line, text);
    for (size_t i = from; i < line->size; i++) {
        if ((unsigned char)line->text[i] < ' ')
            line->text[i] = ' ';
    }
}

static void compose_json(struct line *line, enum pawl_log_level level, const struct log_field *fields, size_t count,
                         const char *message)
{
    struct timeval now;
    struct tm parts;
    char moment[64], text[40];
    (void)gettimeofday(&now, NULL);
    (void)gmtime_r(&now.tv_sec, &parts);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(moment, sizeof moment, "%s.%03dZ", text, (int)(now.tv_usec / 1000));
    add_member(line, "time", moment);
    add_member(line, "level", pawl_log_level_name(level));
    add_member(line, "message", message);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].value != NULL)
            add_member(line, fields[i].key, fields[i].value);
    }
    line->text[line->size++] = '}';
}

static void compose_plain(struct line *line, enum pawl_log_level level, const struct log_field *fields, size_t count,
                          const char *message)
{
    time_t now = time(NULL);
    struct tm parts;
    char moment[64], head[80];
    (void)localtime_r(&now, &parts);
    (void)strftime(moment, sizeof moment, "%H:%M:%S", &parts);
    (void)snprintf(head, sizeof head, "%s %-5s ", moment, pawl_log_level_name(level));
    (void)add(line, head);
    add_plain(line, message);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].value == NULL)
            continue;
        (void)(add(line, "  ") && add(line, fields[i].key) && add(line, "="));
        add_plain(line, fields[i].value);
    }
}

static void write_line(const struct log *log, enum pawl_log_level level, const struct log_field *fields, size_t count,
                       const char *format, va_list arguments)
{
    struct line line = { .size = 0 };
    char message[MESSAGE_SIZE];
    if (level < log->level)
        return;
    (void)vsnprintf(message, sizeof message, format, arguments);
    pawl_text_mend(message);
    if (log->is_json)
        compose_json(&line, level, fields, count, message);
    else
        compose_plain(&line, level, fields, count, message);
    line.text[line.size++] = '\n';
    if (log->writer != NULL)
        writer_add(log->writer, line.text, line.size);
    else
        while (write(log->descriptor, line.text, line.size) < 0 && errno == EINTR)
            ;
}

/* ---- Without waiting --------------------------------------------------------------------------------------------- */

static size_t tell_dropped(void *user, int64_t dropped, char *text, size_t size)
{
    const struct log *log = user;
    struct line line = { .size = 0 };
    char message[128];
    (void)snprintf(message, sizeof message, "%lld lines of this log were dropped: nobody read it", (long long)dropped);
    if (log->is_json)
        compose_json(&line, PAWL_LOG_WARN, NULL, 0, message);
    else
        compose_plain(&line, PAWL_LOG_WARN, NULL, 0, message);
    line.text[line.size++] = '\n';
    size_t fitting = line.size < size ? line.size : size;
    memcpy(text, line.text, fitting);
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
